; a6xx microcode
; Version: 016ee000

; A small firmware for tests: a start, handlers of some packets, a loop, and the packet table.
; It does nothing useful on a GPU.

[016ee000]
[#jumptbl]
; the start: load the packet table, whose place is in the second dword
mov $01, 0x830
mov $02, 2
cwrite $01, [$00 + @REG_READ_ADDR]
cwrite $02, [$00 + @REG_READ_DWORDS]
mov $03, $regdata
mov $04, $regdata
add $03, $03, #jumptbl
addhi $04, $04, 0x0
mov $rem, 0x80
cwrite $03, [$00 + @MEM_READ_ADDR]
cwrite $04, [$00 + @MEM_READ_ADDR+0x1]
cwrite $rem, [$00 + @MEM_READ_DWORDS]
cwrite $00, [$00 + @PACKET_TABLE_WRITE_ADDR]
(rep)cwrite $memdata, [$00 + @PACKET_TABLE_WRITE]
waitin
mov $01, $data

CP_NOP:
; skip the payload
(rep)mov $00, $data
waitin
mov $01, $data

CP_MEM_WRITE:
mov $addr, 0xa0 << 24
mov $data, $data
mov $data, $data
mov $addr, 0xa204 << 16
(rep)(xmov3)mov $data, $data
waitin
mov $01, $data

CP_SCRATCH_WRITE:
and $02, $data, 0x7
add $02, $02, 0xff
(rep)cwrite $data, [$02 + 0x1]!
waitin
mov $01, $data

CP_WAIT_REG_MEM:
mov $05, $data
breq $05, b4, #memory
cwrite $data, [$00 + @REG_READ_ADDR]
again:
and $06, $regdata, 0xff
cmp $07, $06, $05
brne $07, b1, #again
nop
call #count
nop
jump #done
memory:
load $06, [$02 + 0x4]!
breq $06, 0x1f, #again
setbit $06, $06, b3
done:
waitin
mov $01, $data

count:
sread $08, [$00 + %SP]
shl $08, $08, 0x2
ushr $08, $08, 1
msb $09, $08
ret
mov $0a, 0xdead << 16

UNKN3:
CP_REG_TEST:
waitin
mov $01, $data
.align 4
jumptbl:
.jumptbl
