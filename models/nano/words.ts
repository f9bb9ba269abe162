import type { Rng } from "../../src/core/seed.ts";

/** Concrete nouns, one word each, for synthetic passages and substitutions. */
export const nouns: readonly string[] = `
anchor anvil apple apron arch arrow ash attic axle badge bag ball bamboo banana band bark barley barrel basin basket bead beam bean bear bee bell belt
bench berry bicycle blade blanket block boat bolt bone book boot bottle bowl box bracket branch brass bread brick bridge brook broom brush bucket bulb
bundle button cabin cabinet cable cage cake camera canal candle canoe canvas card carrot cart castle cedar cell cellar chain chair chalk channel cherry
chest chimney chip chisel cider clamp clay clock cloth cloud clover coal coat coil coin comet compass copper coral cork corn cotton counter crab cradle
crane crate crayon cream creek crop crystal cube cup curtain cymbal dam deck desk dial dish ditch dock dome donkey door dough dragon drawer drill drum
duck dune dust eagle easel egg elbow engine envelope falcon fan farm feather felt fence fern ferry fiddle field fig filter fin finch flag flame flask
fleet flint floor flour flower flute foam folder forge fork fossil fountain fox frame frog fruit funnel furnace fuse garden garlic gate gauge gear ginger
glacier glass glove glue goat gold goose grain grape grass gravel grid grove gull gutter hammer hammock handle harbor harp hatch hawk hedge helmet herb
heron hill hinge hive hoist honey hook hoop horn horse hose hut ink insect iron island ivory ivy jacket jar jelly jewel juice kayak kettle key kiln kite
knife knob knot label ladder ladle lake lamp lantern latch lattice leaf leather lemon lens lettuce lever lid lilac lily lime linen link lizard lock locker
log loom machine magnet mango map maple marble market mask mast mat meadow melon mesh meter mill mine mint mirror mole moss motor mould mountain mouse mug
mule nail napkin needle nest net nickel noodle notch novel nozzle nut oak oar oat olive onion orbit orchard otter oven owl oyster paddle page paint palm pan
panel paper parcel path peach pear pearl pebble pedal pen pencil pepper petal piano pigeon pillar pillow pin pine pipe pit plank planet plate plough plug
plum pocket pole pond pony pool port post pot potato powder press prism pulley pump pumpkin puppet quarry quartz quill rabbit rack radio raft rail rain
raisin ramp raven reactor reed reef relay resin ribbon rice ridge ring river road robin robot rod roof root rope rose rotor rover rubber rudder rug ruler
sack saddle sail salmon salt sand satin sauce saw scale scarf screen screw seal seat seed sensor shaft shark sheep sheet shelf shell shield ship shirt
shovel shrub shutter sieve silk silver siphon sketch skiff slate sled sleeve slot snail soap sock socket soil spade spark spear spider spike spinach spindle
sponge spool spoon spring sprout square squid stable stack stamp star statue steam steel stem stick stone stool stove straw stream string stump sugar
swan switch sword syrup table tank tape tart tea tent thistle thorn thread throne tile timber tin tomato tongs torch tower tractor trail train tray tree
trout truck trumpet trunk tub tube tulip tunnel turbine turkey turnip turtle valley valve van vase vault velvet vessel vine violin wagon walnut wand water
wave wax weasel web wheat wheel whistle willow winch window wing wire wolf wood wool wrench yarn yeast zebra zinc`.trim().split(/\s+/);

const onsets = ["b", "br", "c", "cl", "d", "dr", "f", "fl", "g", "gr", "h", "j", "k", "l", "m", "n", "p", "pl", "qu", "r", "s", "sl", "st", "t", "tr", "v", "w", "z"];
const vowels = ["a", "e", "i", "o", "u", "ai", "ea", "oo"];
const codas = ["", "", "", "n", "l", "r", "m", "t", "sk", "nd", "x", "p"];

/** A made-up word of two or three syllables that can be spoken. */
export function madeUpWord(rng: Rng): string {
  const syllable = (last: boolean): string => rng.pick(onsets) + rng.pick(vowels) + (last ? rng.pick(codas) : "");
  const word = rng.chance(0.7) ? syllable(false) + syllable(true) : syllable(false) + syllable(false) + syllable(true);
  return word.slice(0, 10);
}

/** `count` distinct words, mostly real nouns, some of them made up or plural. */
export function randomWords(rng: Rng, count: number): string[] {
  const words = new Set<string>();
  while (words.size < count) {
    const word = rng.chance(0.1) ? madeUpWord(rng) : rng.pick(nouns);
    words.add(rng.chance(0.2) && !/[sxhy]$/.test(word) ? `${word}s` : word);
  }
  return [...words];
}

/** Units of measurement that follow a number. */
export const units: readonly string[] = `litres minutes metres grams hours days kilograms degrees pages coins seconds turns tonnes volts pieces steps cups
boxes rows points miles weeks drops sheets bars parts loads rounds seeds knots`.trim().split(/\s+/);

/** First words of process steps (verbs), for `sequence`. */
export const verbs: readonly string[] = `weighed heated cooled washed sorted counted packed mixed filtered dried rinsed stacked cut folded tested sealed
loaded drained pressed rolled painted shaped lifted stored labelled ground sifted stirred poured baked`.trim().split(/\s+/);
