"""Pictures and sounds with known content for two of the cases, out of packages that draw and speak; all seeded."""

import ctypes
import string

import numpy as np

RATE = 16000
STEP = 512
CONTEXT = 64
WORDS = {
    "calibration": ["window", "seven", "orange", "letter", "morning"],
    "tuning": ["the train leaves at nine", "please call me back", "a cold wind", "yesterday", "open the garden door"],
    "holdout": ["her brother plays the violin", "twenty six", "turn left after the bridge", "hello world", "music",
                "we will meet them in the old town", "chocolate", "is it raining again"]}
VOICES = {"calibration": [b"en"], "tuning": [b"en-us", b"de"], "holdout": [b"en-gb-scotland", b"fr", b"es"]}


class Seeded:
    """Stands in for the module `secrets` in the package captcha, which would never draw the same picture twice."""

    def __init__(self, generator):
        self.generator = generator

    def randbelow(self, below):
        return int(self.generator.integers(below))

    def choice(self, items):
        return items[self.randbelow(len(items))]

    def randbits(self, bits):
        return int(self.generator.integers(1 << bits))


def captchas(count, seed):
    """(picture as float32 [1, 64, 170], text, slice)."""
    import captcha.image as package
    from PIL import Image
    generator = np.random.default_rng(seed)
    package.secrets = Seeded(generator)
    writer = package.ImageCaptcha()
    for i in range(count):
        text = "".join(generator.choice(list(string.digits + string.ascii_lowercase), 4))
        if i % 2:
            picture, part = writer.generate_image(text), "noisy"
        else:
            picture, part = writer.create_captcha_image(text, (20, 30, 120), (250, 250, 250)), "clean"
        picture = picture.convert("RGB").resize((170, 64), Image.Resampling.LANCZOS).convert("L")
        yield np.asarray(picture, np.float32)[None] / 255, text, part


class Speaker:
    """espeak-ng, as a library."""

    def __init__(self):
        import espeakng_loader
        self.library = ctypes.CDLL(espeakng_loader.get_library_path())
        synchronous = 2
        self.rate = self.library.espeak_Initialize(synchronous, 0, str(espeakng_loader.get_data_path()).encode(), 0)
        self.parts = []
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)
        self.callback = kind(self.take)
        self.library.espeak_SetSynthCallback(self.callback)

    def take(self, samples, count, _):
        if samples and count > 0:
            self.parts.append(np.ctypeslib.as_array(samples, (count,)).copy())
        return 0

    def say(self, text, voice):
        self.parts.clear()
        self.library.espeak_SetVoiceByName(voice)
        self.library.espeak_Synth(text.encode(), len(text) + 1, 0, 0, 0, 1, None, None)
        self.library.espeak_Synchronize()
        sound = np.concatenate(self.parts).astype(np.float64) / 32768
        at = np.arange(int(len(sound) * RATE / self.rate)) * self.rate / RATE
        return np.interp(at, np.arange(len(sound)), sound)


def voices(which, count, seed, steps=48):
    """({input [steps, 1, 576], sr [steps]}, a 0 or 1 for each step, slice)."""
    generator, speaker = np.random.default_rng(seed), Speaker()
    for i in range(count):
        text, voice = (kinds[which][generator.integers(len(kinds[which]))] for kinds in (WORDS, VOICES))
        said = speaker.say(text, voice)
        sound, start = np.zeros(steps * STEP), int(generator.integers(0, steps * STEP // 2))
        said = said[: len(sound) - start] * generator.uniform(0.3, 1.0)
        sound[start : start + len(said)] = said
        power = (sound.reshape(steps, STEP) ** 2).mean(1)
        label = "".join("1" if p > 0.01 * power.max() else "0" for p in power)
        noise = (0.001, 0.03)[i % 2]
        sound = np.concatenate([np.zeros(CONTEXT), sound + generator.normal(0, noise, len(sound))]).astype(np.float32)
        windows = np.stack([sound[s * STEP : s * STEP + CONTEXT + STEP] for s in range(steps)])[:, None]
        yield {"input": windows, "sr": np.full(steps, RATE, np.int64)}, label, ("clean", "noisy")[i % 2]
