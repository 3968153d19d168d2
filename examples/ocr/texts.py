"""What the lines of text say: made from word lists and patterns with a seeded generator.

The three sets have no word in common, and no line either (`lines` is told what was used before). Characters that many
typefaces draw alike (capital I and small l, capital O and zero) come only inside words, where context tells them apart.
"""

CALIBRATION_WORDS = """
kitchen table window curtain pillow blanket candle mirror carpet drawer kettle spoon bottle basket
pepper butter cheese tomato potato garlic orange banana cherry lemon honey coffee sugar bread
jacket button pocket sweater ribbon zipper""".split()

TUNING_WORDS = """
street station bridge harbour airport ticket platform signal tunnel corner garage traffic parking
entrance exit market bakery pharmacy library museum theatre school office factory hospital hotel
motor engine wheel brake mirrors bumper trailer bicycle scooter tractor cargo pallet freight parcel
invoice receipt payment account balance discount deposit refund number address customer supplier
monday tuesday thursday january march august october north south east west centre upper lower""".split()

HOLDOUT_WORDS = """
forest meadow river mountain valley desert island volcano glacier canyon prairie lagoon waterfall
thunder rainbow sunshine breeze autumn winter spring summer morning evening midnight shadow
falcon sparrow badger rabbit turtle dolphin salmon beetle spider hedgehog squirrel donkey buffalo
maple willow cedar bamboo clover orchid tulip jasmine lavender mushroom walnut chestnut almond
copper silver marble granite crystal amber velvet cotton leather timber gravel powder magnet compass
doctor painter sailor farmer teacher pilot singer lawyer baker hunter guard captain judge queen""".split()

PLATE_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"
DIGITS = "0123456789"


def lines(words, count, generator, used):
    """`count` different lines, none of them in the set `used`, which grows by them."""
    result = []
    while len(result) < count:
        text = _line(words, generator)
        if text not in used:
            used.add(text)
            result.append(text)
    return result


def _line(words, generator):
    def word():
        return words[generator.integers(len(words))]

    def digits(low, high):
        return "".join(DIGITS[i] for i in generator.integers(0, 10, generator.integers(low, high + 1)))

    def letters(count):
        return "".join(PLATE_LETTERS[i] for i in generator.integers(0, len(PLATE_LETTERS), count))

    def number(low, high):
        return str(generator.integers(low, high))

    kinds = (
        lambda: word().capitalize(),
        lambda: word().upper(),
        lambda: f"{word()}-{word()}",
        lambda: f"{word()}{digits(2, 3)}",
        lambda: f"{word().capitalize()}:{digits(2, 4)}",
        lambda: digits(5, 10),
        lambda: f"{letters(2)}-{digits(2, 4)}-{letters(2)}",
        lambda: f"{number(1, 1000)}.{digits(2, 2)}",
        lambda: f"${number(1, 1000)}.{digits(2, 2)}",
        lambda: f"{number(2000, 2040)}-{number(10, 13)}-{number(10, 29)}",
        lambda: f"{number(10, 24)}:{number(10, 60)}:{number(10, 60)}",
        lambda: f"{letters(3)}{digits(4, 6)}",
        lambda: f"{digits(2, 3)}%{word()}",
    )
    return kinds[generator.integers(len(kinds))]()
