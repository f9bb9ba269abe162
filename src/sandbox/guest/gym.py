"""As much of gymnasium as text programs name: a base class and spaces that only keep what they are given."""
from random import Random


class Generator:
    """The calls of a numpy random generator that programs make, over a private source."""

    def __init__(self, seed=None):
        self._source = Random(seed)

    def integers(self, low, high=None, endpoint=False):
        low, high = (0, low) if high is None else (low, high)
        return self._source.randrange(low, high + bool(endpoint))

    def random(self):
        return self._source.random()

    def uniform(self, low=0.0, high=1.0):
        return self._source.uniform(low, high)

    def choice(self, items):
        return self._source.choice(range(items) if isinstance(items, int) else list(items))

    def shuffle(self, items):
        self._source.shuffle(items)

    def permutation(self, items):
        return self._source.sample(range(items) if isinstance(items, int) else list(items), items if isinstance(items, int) else len(items))


class Env:
    metadata = {}
    render_mode = None
    np_random = None

    def reset(self, *, seed=None, options=None):
        if seed is not None or self.np_random is None:
            self.np_random = Generator(seed or 0)

    def render(self):
        return None

    def close(self):
        pass

    @property
    def unwrapped(self):
        return self


class Space:
    """Keeps its arguments; says nothing about them."""

    def __init__(self, *arguments, **options):
        self.arguments = arguments
        self.__dict__.update(options)


class Discrete(Space):
    def __init__(self, n, **options):
        super().__init__(n, n=n, **options)

    def contains(self, value):
        return isinstance(value, int) and 0 <= value < self.n


class Text(Space):
    pass


class Box(Space):
    pass


class MultiDiscrete(Space):
    pass


class MultiBinary(Space):
    pass


class Dict(Space):
    pass


class Tuple(Space):
    pass


class Sequence(Space):
    pass
