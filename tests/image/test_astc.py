# SPDX-License-Identifier: MIT
"""ASTC blocks: what Arm's astcenc says of random ones; illegal ones are not decoded."""

from __future__ import annotations

import pytest

from cffpy.formats import image_format
from tests.selection import first_always

np = pytest.importorskip("numpy")
pytest.importorskip("texture2ddecoder")

#: Size of blocks, a block, whether astcenc decodes it to something else than its error colour.
BLOCKS = [
    ("4x4", "af8754d8f4b0258ef4c361404c2911a3", True),
    ("4x4", "33441d2096b075f970a3886d021c530b", True),
    ("4x4", "bfa158146a68f1729070a1b45376b6f7", True),
    ("4x4", "514a5ac7131c92773db789afb9f7f246", True),
    ("4x4", "12eadf41b6fb188e42f9d0d98cdc89d0", True),
    ("4x4", "ceadb13fe3c9960426f695fa61aefb06", True),
    ("4x4", "1fb56b21bba9b39e016f9adf91517cf8", True),
    ("4x4", "53d03d210308765d9b32c9d5878ceeba", True),
    ("4x4", "2312a664638a600e96c768a1154ac7cc", True),
    ("4x4", "23b8a42e6f4f38119e1f94971632b420", True),
    ("4x4", "af1bc362226fd2c07d9efab475c1c1bd", True),
    ("4x4", "219a9e9a771cd8743c9e7fb740a24602", True),
    ("4x4", "7c640c97decbfb99d3eb50b6b0295807", False),
    ("4x4", "d764643f51c09cabc2a78075bf7c2b83", False),
    ("4x4", "37e375fb00281dfbdf35972268bb5a34", False),
    ("4x4", "4ecc402210fae920677a0dcc8aacd07f", False),
    ("4x4", "358a398c371507127643f18a94dd3821", False),
    ("4x4", "d58a98716313b0a9132f9afe77a37a46", False),
    ("4x4", "8df1497cdf7bde255437c866d33c9fed", False),
    ("4x4", "59d022c14ca7c5f2b1f3bcfa5cc3339f", False),
    ("4x4", "02b7f7f099a315d19eded3d66232908c", False),
    ("4x4", "ff5910db28e051237eec05597ef6bcc9", False),
    ("4x4", "2a1af14ee745c18d1ba3e8d200d4ce7b", False),
    ("4x4", "883ffee2579209de5118a3f7d064f620", False),
    ("6x5", "4d434408417d54cb4bb4bf4b1ce5e7e9", True),
    ("6x5", "ede56109c4678d2acf4d60f854b45fb3", True),
    ("6x5", "12e37a4be4b7fb1b5ecb9b136b8255b5", True),
    ("6x5", "c12a974677e16ed30fea9bc44853d3b9", True),
    ("6x5", "f2a8f4ed46919b63f3c072b9b3214361", True),
    ("6x5", "3328021c40b14cd1033f256e857c81b5", True),
    ("6x5", "41d40e768e2b12c4735a70e7f043d071", True),
    ("6x5", "8ed38581f5b56966b7d6581bd5177e06", True),
    ("6x5", "31525c24ab9a836ccc0d596385531abd", True),
    ("6x5", "7f59f3323ebffc3ee44534353849f214", True),
    ("6x5", "4219b07495a8cd30b8d72010e6e69b8f", True),
    ("6x5", "6f9bed5aec4c772307c174f83ff47de4", True),
    ("6x5", "36e4cc952a561308f39647fe63e4eaae", False),
    ("6x5", "f3a51aae629d8461616b8b51c2545f26", False),
    ("6x5", "3ca3934236f86dd14e1abfb86d76ecc4", False),
    ("6x5", "f44fd8f949b177a2096a3e4e5ce33a94", False),
    ("6x5", "340840093daeab9523c954cbc37653bc", False),
    ("6x5", "b5cf8a8394af7eb7ee3b9b4ac207067a", False),
    ("6x5", "5816a0ea516c6eb0f968e4e9ff02d1d1", False),
    ("6x5", "0215ed6be10bcc1c4f091b6293b60025", False),
    ("6x5", "ff75e953921f9c82b5670589244a1c42", False),
    ("6x5", "9dbed0112d10d392e79517c5da139b61", False),
    ("6x5", "677b0957c98135c7fbc4631fb8722a52", False),
    ("6x5", "887be22faab109b969beb153f7a391b5", False),
    ("12x12", "83a2045f041a4d2afcfa0b66c35c4fc4", True),
    ("12x12", "17a206147907775e5392eccd4d62ad1d", True),
    ("12x12", "82659561d1076c9912d6cbaf991e3315", True),
    ("12x12", "1aa897ea5b90223beb14bb56f6613f79", True),
    ("12x12", "2a49afc908b1279913d10eeb3c461114", True),
    ("12x12", "a2ac9841c4d7917e9fd7573cffa73a6e", True),
    ("12x12", "1e308282e4c212da26949b377f8ebca2", True),
    ("12x12", "03725bb497df2907b44c050662a75998", True),
    ("12x12", "2e557fdfc3b2c389aa63ad49ccdc38c6", True),
    ("12x12", "7139a1023badf15b8f00ef4020204c6f", True),
    ("12x12", "41d9f76246bd0ce6b0b7e04a088f0086", True),
    ("12x12", "15180cec76898d98b88b5322bbcfa9a1", True),
    ("12x12", "e166058e42363bbe84f779b0ff5e51a5", False),
    ("12x12", "37e4afc373057220e15f6220368d4a7b", False),
    ("12x12", "9da6fa3d9b3d6ea6c5dd930226c2b316", False),
    ("12x12", "e42c9be54cf695034402e127bb43e4dc", False),
    ("12x12", "72cf7e62c8a7bab0b3f470b4c9869a69", False),
    ("12x12", "37cc89138940fa75fd50c50ffc6dbabc", False),
    ("12x12", "76327128277f217b6abcefa77269ad26", False),
    ("12x12", "f9134b43d682ce8a68b318784afe1651", False),
    ("12x12", "baf74a5174bb28052108a22193aad189", False),
    ("12x12", "d2b9bc6f9dd9bbdead57076d9f1c210b", False),
    ("12x12", "087ab6166c83a710509fa316a8c4c4bb", False),
    ("12x12", "47dc275454e26e8ac91324d8eb6df68c", False),
]
MAGENTA = [255, 0, 255, 255]
#: A block of one colour: half red, opaque.
RED = bytes.fromhex("fcfdffffffffffffff7f00000000ffff")


@pytest.mark.parametrize(("size", "block", "is_legal"), first_always(BLOCKS, 32, names=3))
def test_recorded_blocks(size: str, block: str, is_legal: bool) -> None:
    from cffpy.image.pixels import with_legal_blocks

    width, height = map(int, size.split("x"))
    data = bytes.fromhex(block)
    both = with_legal_blocks(RED + data, width, height)
    assert both[:16] == RED
    assert (both[16:] == data) == is_legal


def test_illegal_blocks_have_the_error_colour() -> None:
    """The decoder writes beyond its memory with some: 10,000 of them ended the process."""
    from cffpy.image.pixels import decode_blocks

    illegal = [bytes.fromhex(block) for size, block, is_legal in BLOCKS if not is_legal]
    illegal = [one for one in illegal for _ in range(300)]
    texels = decode_blocks(
        image_format("ASTC_4X4"), RED + b"".join(illegal), 4 * len(illegal) + 4, 4
    )
    assert texels[0, 0].tolist() == [127, 0, 0, 255]
    assert np.unique(texels[:, 4:].reshape(-1, 4), axis=0).tolist() == [MAGENTA]
