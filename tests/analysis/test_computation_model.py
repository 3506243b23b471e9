# SPDX-License-Identifier: MIT
"""Random streams of packets that compute, against a plain model of the rules in this file."""

from __future__ import annotations

from copy import deepcopy
from random import Random

import pytest

from cffpy.container.open import open_bytes
from cffpy.frame.action import Action
from tests.analysis.passes.streams import Collector, Streams
from tests.builders import type4
from tests.selection import first_always

#: Registers without a meaning for a walk, and dwords of a buffer.
REGISTERS = [0x0C60, 0x0C61, 0x0C62, 0x0C63, 0x0C64, 0x0C65]
MEMORY = 0x20000000
DWORDS = 12
ADDRESSES = [MEMORY + 4 * step for step in range(DWORDS)]
MASK = 0xFFFFFFFF
STREAMS, SHARES = 1000, 4


def signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def holds(function: int, is_signed: int, polled: int | None, reference: int, mask: int):
    """cp_cond_function."""
    if function == 0:
        return True
    if polled is None:
        return None
    value = polled & mask
    if is_signed:
        value, reference = signed(value), signed(reference)
    return {
        1: value < reference,
        2: value <= reference,
        3: value == reference,
        4: value != reference,
        5: value >= reference,
        6: value > reference,
    }[function]


class Places(dict[int, int | None]):
    """Values, and which of them were stored. None: only the GPU knows."""

    def __init__(self, count: int = 0) -> None:
        super().__init__(dict.fromkeys(range(count)))
        self.stored: set[int] = set()

    def __setitem__(self, place: int, value: int | None) -> None:
        self.stored.add(place)
        super().__setitem__(place, value)


class Model:
    """What the command processor knows. None: only the GPU knows."""

    def __init__(self) -> None:
        self.registers: dict[int, int | None] = {}
        self.memory = Places()
        self.scratch = Places(8)
        self.scratch_memory = Places(48)
        self.predicates = Places(32)
        self.draws: list[bool | None] = []

    def begin(self) -> None:
        """A block begins: what is stored from now on counts."""
        for places in self.others:
            places.stored.clear()

    @property
    def others(self) -> tuple[Places, ...]:
        """All but registers: what is stored there is unknown at once, if it may not be stored."""
        return self.memory, self.scratch, self.scratch_memory, self.predicates

    def doubt(self, draws: int) -> None:
        """The packets of a block may not be executed. ``draws``: those before the block."""
        for places in self.others:
            places.update(dict.fromkeys(places.stored))
        of_block = [None if one is not False else one for one in self.draws[draws:]]
        self.draws[draws:] = of_block

    def polled(self, poll: int, at: int) -> int | None:
        if poll == 0:
            return self.registers.get(at)
        return self.memory.get(at) if poll == 1 else self.scratch[at & 7] if poll == 2 else None


class Generator:
    """Makes packets at random, and has the model do what they say."""

    def __init__(self, seed: int, gpu: int) -> None:
        self.random = Random(seed)
        self.s = Streams(gpu)
        self.model = Model()
        self.s.buffers[MEMORY] = [self.random.getrandbits(32) for _ in range(DWORDS)]

    def capture(self) -> bytes:
        makers = [
            self.reg_write,
            self.mem_write,
            self.reg_rmw,
            self.mem_to_mem,
            self.reg_to_mem,
            self.mem_to_reg,
            self.reg_to_scratch,
            self.scratch_to_reg,
            self.scratch_write,
            self.cond_write,
            self.wait,
            self.event,
            self.reg_test,
            self.predicated_draw,
            self.compared_draw,
            self.memory_draw,
        ]
        if self.s.gpu >= 700:
            makers += [self.memcpy, self.scratch_memory, self.scratch_memory_test]
        self.makers = makers
        makers = [*makers, self.block, self.block]
        parts = [self.random.choice(makers)() for _ in range(self.random.randint(8, 40))]
        self.model.draws.append(True)
        return self.s.capture([[*parts, self.s.draw()]])

    # -- choices ----------------------------------------------------------------------------

    def reg(self, count: int = 1) -> int:
        return self.random.choice(REGISTERS[: len(REGISTERS) - count + 1])

    def address(self, count: int = 1) -> int:
        return self.random.choice(ADDRESSES[: DWORDS - count + 1])

    def number(self) -> int:
        few = [0, 1, 2, 3, 0x80000000, MASK]
        return self.random.choice([*few, self.random.getrandbits(32)])

    def lo_hi(self, address: int) -> tuple[int, int]:
        return address & MASK, address >> 32

    # -- packets ----------------------------------------------------------------------------

    def reg_write(self) -> list[int]:
        register, value = self.reg(), self.number()
        self.model.registers[register] = value
        return type4(register, value)

    def mem_write(self) -> list[int]:
        count = self.random.randint(1, 3)
        address, values = self.address(count), [self.number() for _ in range(count)]
        for step, value in enumerate(values):
            self.model.memory[address + 4 * step] = value
        return self.s.packet("CP_MEM_WRITE", *self.lo_hi(address), *values)

    def reg_rmw(self) -> list[int]:
        model, random = self.model, self.random
        rotate, adds = random.choice([0, 0, 5, 31]), random.getrandbits(1)
        is0, is1 = random.getrandbits(1), random.getrandbits(1)
        to_scratch = self.s.gpu >= 700 and random.getrandbits(2) == 0
        target = random.randrange(8) if to_scratch else self.reg()
        first = self.reg() if is0 else random.choice([0, MASK, 0xFF00])
        second = self.reg() if is1 else self.number()
        old = model.scratch[target] if to_scratch else model.registers.get(target)
        mask = model.registers.get(first) if is0 else first
        added = model.registers.get(second) if is1 else second
        result: int | None = None
        if mask is not None and added is not None and (old is not None or mask == 0):
            kept = (old or 0) & mask
            kept = (kept << rotate | kept >> (32 - rotate)) & MASK
            result = (kept + added & MASK) if adds else kept | added
        if to_scratch:
            model.scratch[target] = result
        else:
            model.registers[target] = result
        head = target | to_scratch << 19 | rotate << 24 | adds << 29 | is1 << 30 | is0 << 31
        return self.s.packet("CP_REG_RMW", head, first, second)

    def mem_to_mem(self) -> list[int]:
        random, memory = self.random, self.model.memory
        is_wide = random.getrandbits(1)
        size = 2 if is_wide else 1
        sources = [self.address(size) for _ in range(random.randint(1, 3))]
        negated = [random.getrandbits(1) for _ in sources]
        target = self.address(size)
        total: int | None = 0
        for source, negative in zip(sources, negated, strict=True):
            parts = [memory.get(source + 4 * step) for step in range(size)]
            if None in parts:
                total = None
                break
            number = sum(part << 32 * step for step, part in enumerate(parts))
            total += -number if negative else number
        for step in range(size):
            memory[target + 4 * step] = None if total is None else total >> 32 * step & MASK
        head = sum(bit << place for place, bit in enumerate(negated)) | is_wide << 29
        addresses = [half for at in (target, *sources) for half in self.lo_hi(at)]
        return self.s.packet("CP_MEM_TO_MEM", head, *addresses)

    def reg_to_mem(self) -> list[int]:
        random, model = self.random, self.model
        is_wide, adds = random.getrandbits(1), random.getrandbits(1)
        count = 2 if is_wide else random.randint(0, 2)
        dwords = max(count, 1)
        register, address = self.reg(dwords), self.address(dwords)
        values = [model.registers.get(register + step) for step in range(dwords)]
        if adds:
            size = 2 if is_wide else 1
            for first in range(0, dwords, size):
                old = [model.memory.get(address + 4 * at) for at in range(first, first + size)]
                new = values[first : first + size]
                total = None
                if None not in (*old, *new):
                    total = sum(
                        (a + b) << 32 * place
                        for place, (a, b) in enumerate(zip(old, new, strict=True))
                    )
                for place in range(size):
                    values[first + place] = None if total is None else total >> 32 * place & MASK
        for step, value in enumerate(values):
            model.memory[address + 4 * step] = value
        head = register | count << 18 | is_wide << 30 | adds << 31
        return self.s.packet("CP_REG_TO_MEM", head, *self.lo_hi(address))

    def mem_to_reg(self) -> list[int]:
        count, shifts = self.random.randint(0, 2), self.random.getrandbits(1)
        dwords = max(count, 1)
        register, address = self.reg(dwords), self.address(dwords)
        for step in range(dwords):
            value = self.model.memory.get(address + 4 * step)
            if value is not None and shifts:
                value = value << 2 & MASK
            self.model.registers[register + step] = value
        head = register | count << 19 | shifts << 30
        return self.s.packet("CP_MEM_TO_REG", head, *self.lo_hi(address))

    def reg_to_scratch(self) -> list[int]:
        count = self.random.randint(1, 2)
        register, scratch = self.reg(count), self.random.randrange(8)
        for step in range(count):
            if scratch + step < 8:
                self.model.scratch[scratch + step] = self.model.registers.get(register + step)
        return self.s.packet("CP_REG_TO_SCRATCH", register | scratch << 20 | count - 1 << 24)

    def scratch_to_reg(self) -> list[int]:
        count = self.random.randint(1, 2)
        register, scratch = self.reg(count), self.random.randrange(8)
        for step in range(count):
            value = self.model.scratch[scratch + step] if scratch + step < 8 else None
            self.model.registers[register + step] = value
        return self.s.packet("CP_SCRATCH_TO_REG", register | scratch << 20 | count - 1 << 24)

    def scratch_write(self) -> list[int]:
        scratch, values = self.random.randrange(7), [self.number(), self.number()]
        self.model.scratch.update(zip((scratch, scratch + 1), values, strict=True))
        self.model.scratch.stored.update((scratch, scratch + 1))
        return self.s.packet("CP_SCRATCH_WRITE", scratch << 20, *values)

    def cond_write(self) -> list[int]:
        random, model = self.random, self.model
        function, is_signed, poll = random.randrange(7), random.getrandbits(1), random.randrange(4)
        at = [self.reg(), self.address(), random.randrange(8), self.address()][poll]
        reference, mask, value = self.number(), random.choice([MASK, 0xFFFF]), self.number()
        in_memory = random.getrandbits(1)
        target = self.address() if in_memory else self.reg()
        written = model.memory if in_memory else model.registers
        outcome = holds(function, is_signed, model.polled(poll, at), reference, mask)
        if outcome is not False:
            written[target] = value if outcome else None
        head = function | is_signed << 3 | poll << 4 | in_memory << 8
        where = *self.lo_hi(at), reference, mask, *self.lo_hi(target), value
        return self.s.packet("CP_COND_WRITE5", head, *where)

    def wait(self) -> list[int]:
        address, reference = self.address(), self.number()
        memory = self.model.memory
        if address in memory and memory[address] is None:
            memory[address] = reference
        return self.s.packet(
            "CP_WAIT_REG_MEM", 3 | 1 << 4, *self.lo_hi(address), reference, MASK, 1
        )

    def event(self) -> list[int]:
        """An event that stores to memory: what lies there and behind it is not known."""
        address = self.address()
        for at in range(address, address + 64, 4):
            self.model.memory[at] = None
        if self.s.gpu >= 700:
            return self.s.packet("CP_EVENT_WRITE7", 4 | 1 << 27, *self.lo_hi(address), 7)
        return self.s.packet("CP_EVENT_WRITE", 4, *self.lo_hi(address), 7)

    def memcpy(self) -> list[int]:
        count = self.random.randint(1, 3)
        source, target = self.address(count), self.address(count)
        values = [self.model.memory.get(source + 4 * step) for step in range(count)]
        for step, value in enumerate(values):
            self.model.memory[target + 4 * step] = value
        return self.s.packet("CP_MEMCPY", count, *self.lo_hi(source), *self.lo_hi(target))

    def scratch_memory(self) -> list[int]:
        count, offset = self.random.randint(1, 3), self.random.choice([0, 1, 46])
        address = self.address(count)
        for step in range(count):
            if offset + step < 48:
                value = self.model.memory.get(address + 4 * step)
                self.model.scratch_memory[offset + step] = value
        return self.s.packet("CP_MEM_TO_SCRATCH_MEM", count, offset, *self.lo_hi(address))

    # -- conditions -------------------------------------------------------------------------

    def reg_test(self) -> list[int]:
        random, predicates = self.random, self.model.predicates
        if random.getrandbits(2) == 0:
            mask, values = random.getrandbits(32), random.getrandbits(32)
            for bit in range(32):
                if mask >> bit & 1:
                    predicates[bit] = bool(values >> bit & 1)
            return self.s.packet("CP_REG_TEST", 1 << 31, mask, values)
        register, bit, predicate = self.reg(), random.randrange(32), random.randrange(4)
        value = self.model.registers.get(register)
        predicates[predicate] = None if value is None else bool(value >> bit & 1)
        return self.s.packet("CP_REG_TEST", register | bit << 20 | predicate << 26)

    def scratch_memory_test(self) -> list[int]:
        offset, bit = self.random.choice([0, 1, 2, 46, 47]), self.random.randrange(32)
        value = self.model.scratch_memory[offset]
        self.model.predicates[0] = None if value is None else bool(value >> bit & 1)
        return self.s.packet("CP_REG_TEST", offset | 1 << 18 | bit << 20)

    def predicated_draw(self) -> list[int]:
        predicate = self.random.randrange(4)
        self.model.draws.append(self.model.predicates[predicate])
        return self.s.when(predicate, self.s.draw())

    def block(self) -> list[int]:
        """Packets under a predicate. Where the GPU decides, what they change is not known."""
        predicate, model, parts = self.random.randrange(4), self.model, list[list[int]]()
        is_executed, before, draws = model.predicates[predicate], deepcopy(model), len(model.draws)
        model.begin()
        for _ in range(self.random.randint(1, 5)):
            parts.append(self.random.choice(self.makers)())
            if is_executed is None:
                model.doubt(draws)
        if is_executed is None:
            for register, value in model.registers.items():
                if before.registers.get(register) != value:
                    model.registers[register] = None
        elif not is_executed:
            self.model = before
            before.draws += [False] * (len(model.draws) - draws)
        return self.s.when(predicate, [dword for part in parts for dword in part])

    def compared_draw(self) -> list[int]:
        register, draw = self.reg(), self.s.draw()
        value = self.model.registers.get(register)
        is_immediate = self.s.gpu >= 700 and self.random.getrandbits(1)
        if is_immediate:
            wanted: int | None = self.random.choice([value or 0, self.number()])
            head, second = register | 4 << 28, wanted or 0
        else:
            other = self.reg()
            wanted, head, second = self.model.registers.get(other), register | 2 << 28, other
        is_unknown = value is None or wanted is None
        self.model.draws.append(None if is_unknown else value == wanted)
        return [*self.s.packet("CP_COND_REG_EXEC", head, second, len(draw)), *draw]

    def memory_draw(self) -> list[int]:
        first, second, reference = self.address(), self.address(), self.number()
        memory, draw = self.model.memory, self.s.draw()
        one, two = memory.get(first), memory.get(second)
        parts = (
            None if one is None else one != 0,
            None if two is None else signed(two) < signed(reference),
        )
        self.model.draws.append(False if False in parts else None if None in parts else True)
        head = *self.lo_hi(first), *self.lo_hi(second), reference, len(draw)
        return [*self.s.packet("CP_COND_EXEC", *head), *draw]


class KeepsComputation(Collector):
    """Keeps what is known of memory at the last draw, and what the image has."""

    def action(self, action: Action) -> None:
        super().action(action)
        computation, image = self.walk.computation, self.walk.machine.image
        self.registers = {register: computation.register(register) for register in REGISTERS}
        self.dwords = {address: computation.dword(address) for address in ADDRESSES}
        places = {address: image.place(address) for address in ADDRESSES}
        self.image = {address: words.data[index] for address, (words, index) in places.items()}


@pytest.mark.parametrize("share", first_always(range(SHARES)))
@pytest.mark.parametrize("gpu", first_always([630, 740]))
def test_what_packets_compute_is_what_the_rules_say(gpu: int, share: int) -> None:
    for seed in range(share, STREAMS // 2, SHARES):
        made = Generator(seed, gpu)
        collector = KeepsComputation(applies_memory_writes=True)
        collector.run(open_bytes(made.capture()))
        model = made.model
        for register in REGISTERS:
            value = collector.registers[register]
            assert (value and value.value) == model.registers.get(register), (seed, hex(register))
        for address in ADDRESSES:
            known = collector.dwords[address]
            assert (known and known.value) == model.memory.get(address), (seed, hex(address))
            if known is not None:
                assert collector.image[address] == known.value, (seed, hex(address))
                assert known.packets, "a known dword comes from packets"
        assert [action.execution.value for action in collector.actions] == model.draws, seed
