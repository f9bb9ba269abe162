/** Guest modules, in order of installation. */
export const guestModules = [
  { name: "spade_answers", file: "answers.py" },
  { name: "spade_analysis", file: "analysis.py" },
  { name: "spade_border", file: "border.py" },
  { name: "spade_tools", file: "tools.py" },
  { name: "spade_gym", file: "gym.py" },
  { name: "spade_driver", file: "driver.py" },
] as const;

/** Standard library modules in the image; nothing else can be imported by a program. */
export const preloadedModules: readonly string[] = (
  "__future__ _strptime _pylong abc array ast base64 binascii bisect builtins calendar cmath codecs collections collections.abc colorsys " +
  "contextlib contextvars copy copyreg csv dataclasses datetime decimal difflib enum errno fnmatch fractions functools gc graphlib " +
  "hashlib heapq html inspect io ipaddress itertools json keyword linecache locale logging math numbers operator os os.path pathlib " +
  "pickle platform pprint queue random re reprlib sched secrets shlex statistics string struct sys textwrap threading time timeit token tokenize traceback " +
  "types typing unicodedata urllib.parse uuid warnings weakref zlib zoneinfo " +
  "encodings.ascii encodings.latin_1 encodings.utf_8 encodings.utf_8_sig encodings.utf_16 encodings.utf_16_le encodings.utf_16_be " +
  "encodings.utf_32 encodings.cp1252 encodings.rot_13 encodings.hex_codec encodings.base64_codec encodings.unicode_escape encodings.raw_unicode_escape encodings.idna encodings.punycode"
).split(" ");
