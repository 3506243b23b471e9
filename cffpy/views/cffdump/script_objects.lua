-- SPDX-License-Identifier: MIT
--
-- The objects and functions that scripts see: the tables regs, bos and rnn, registers, packets.
-- cffdump: script.c (mesa 25.0.7).
--
-- host: functions of script.py. Elements are the tables that elements.py makes. Objects are tables
-- whose metatables have the names of the reference's userdata, which Lua's messages show.

local host = ...

local debug_getmetatable, plain_type, rawget, setmetatable = debug.getmetatable, type, rawget, setmetatable
local tostring, tonumber, tointeger, math_type = tostring, tonumber, math.tointeger, math.type
local format, pack, unpack = string.format, string.pack, string.unpack
local pcall, error, loadfile, floor, ceil = pcall, error, loadfile, math.floor, math.ceil
local stdout = io.stdout
local globals = _G

-- Keys of the fields of objects, which no script can name.
local SPACE, ELEMENT, OFFSET, NAME = {}, {}, {}, {}

-- Conversions as by lua_tonumber and lua_tointeger: what is no number counts as 0.

local function natural(value, mask)
  local number = tonumber(value) or 0
  local whole = tointeger(number) or tointeger(number < 0 and ceil(number) or floor(number))
  return (whole or 0) & mask
end

local function whole(value)
  local number = tonumber(value)
  return number and tointeger(number) or 0
end

local function text_of(key)
  if plain_type(key) == "string" then
    return key
  end
  return math_type(key) and tostring(key) or nil
end

-- Metatables

local userdata = {}

local function metatable(name)
  local made = {
    __name = name,
    __len = function() error("attempt to get length of a " .. name .. " value", 2) end,
    __newindex = function() error("attempt to index a " .. name .. " value", 2) end,
  }
  userdata[made] = true
  return made
end

local enum_meta = metatable("rnnmetaenum")
local register_meta = metatable("rnnmetareg")
local array_meta = metatable("rnnmetaarray")
local struct_meta = metatable("rnnmetastruct")
local database_meta = metatable("rnnmeta")
local packet_meta = metatable("rnnmetadom")

-- The reference's objects are userdata.
function type(...)
  local kind = plain_type(...)
  local value = ...
  if kind == "table" and userdata[debug_getmetatable(value)] then
    return "userdata"
  end
  return kind
end

-- Values

function enum_meta.__tostring(value)
  return rawget(value, NAME)
end

function enum_meta.__index()
  error("attempt to index a rnnmetaenum value", 2)
end

-- A value of a plain type; the second result is whether there is one.
local function decode(kind, names, value)
  if kind == "enum" then
    local number = value & 0xffffffff
    if number >= 0x80000000 then
      number = number - 0x100000000
    end
    return setmetatable({ [NAME] = names[number] or tostring(number & 0xffffffff) }, enum_meta), true
  elseif kind == "integer" then
    return value, true
  elseif kind == "float" then
    return (unpack("<f", pack("<I4", value & 0xffffffff))), true
  elseif kind == "boolean" then
    return value & 0xffffffff ~= 0, true
  end
  return nil, false
end

-- What an element at an offset of a space is. A space has read(offset) and text(offset).
local function element_value(space, element, offset)
  local kind = element.kind
  if kind == "array" then
    return setmetatable({ [SPACE] = space, [ELEMENT] = element, [OFFSET] = offset }, array_meta)
  elseif kind == "stripe" then
    stdout:write("unhandled type: 2\n")
    return nil
  end
  local value = space.read(offset)
  if element.wide then
    value = value | space.read(offset + 1) << 32
  end
  local result, is_plain = decode(kind, element.names, value << element.shr)
  if is_plain then
    return result
  end
  return setmetatable({ [SPACE] = space, [ELEMENT] = element, [OFFSET] = offset }, register_meta)
end

function register_meta.__index(register, key)
  local name, element = text_of(key), rawget(register, ELEMENT)
  local fields = element.fields
  if not fields then
    stdout:write("invalid register type: ", element.number, "\n")
    return nil
  end
  local field = name and fields[name]
  if not field then
    stdout:write("invalid member: ", name or "(null)", "\n")
    return nil
  end
  local value = rawget(register, SPACE).read(rawget(register, OFFSET))
  value = (value & field.mask) >> field.low << field.shr & 0xffffffff
  return (decode(field.kind, field.names, value))
end

function register_meta.__tostring(register)
  return rawget(register, SPACE).text(rawget(register, OFFSET))
end

function array_meta.__index(array, key)
  local space, element = rawget(array, SPACE), rawget(array, ELEMENT)
  local offset = rawget(array, OFFSET) + element.stride * whole(key)
  if element.single then
    return element_value(space, element.single, offset)
  end
  return setmetatable({ [SPACE] = space, [ELEMENT] = element, [OFFSET] = offset }, struct_meta)
end

function struct_meta.__index(struct, key)
  local name = text_of(key)
  local element = name and rawget(struct, ELEMENT).elements[name]
  if element then
    return element_value(rawget(struct, SPACE), element, rawget(struct, OFFSET) + element.offset)
  end
  return nil
end

-- rnn: registers by name, as they are now

local known = {}

function database_meta.__index(database, key)
  local space, name = rawget(database, SPACE), text_of(key)
  if not name then
    return nil
  end
  local elements = space.elements
  local element = elements[name]
  if element == nil then
    element = host.register_element(space.chip, name) or false
    elements[name] = element
  end
  if not element then
    return nil
  end
  return element_value(space, element, element.offset)
end

local function chip_of(database)
  local space = plain_type(database) == "table" and rawget(database, SPACE)
  if not space then
    error("bad argument #1 (rnnmeta expected, got " .. type(database) .. ")", 3)
  end
  return space.chip
end

rnn = {}

function rnn.init(name)
  local chip = host.open(text_of(name) or "")
  if not chip then
    error("rnn.init: '" .. tostring(name) .. "' names no generation from a2 to a7", 2)
  end
  local space = known[chip]
  if not space then
    space = {
      chip = chip,
      elements = {},
      read = host.value,
      text = function(offset) return host.register_text(chip, offset, host.value(offset)) end,
    }
    known[chip] = space
  end
  return setmetatable({ [SPACE] = space }, database_meta)
end

function rnn.enumname(database, enum, number)
  return host.enum_name(chip_of(database), text_of(enum) or "", natural(number, 0xffffffff))
end

function rnn.regname(database, register)
  return host.register_name(chip_of(database), natural(register, 0xffffffff))
end

function rnn.regval(database, register, value)
  register, value = natural(register, 0xffffffff), natural(value, 0xffffffff)
  return host.register_text(chip_of(database), register, value)
end

-- regs and bos. Nothing changes within a callback: one that reads many registers gets a copy.

local MANY = 64
local reads, values, lasts, written = 0, nil, nil, nil

local function is_copied()
  reads = reads + 1
  if reads == MANY then
    values, lasts, written = host.copy_registers()
  end
  return values
end

regs = {}

function regs.written(register)
  register = natural(register, 0xffffffff)
  if is_copied() then
    return written[register] and 1.0 or 0.0
  end
  return host.was_written(register) and 1.0 or 0.0
end

function regs.lastval(register)
  register = natural(register, 0xffffffff)
  if is_copied() then
    return (lasts[register] or 0) + 0.0
  end
  return host.last_value(register) + 0.0
end

function regs.val(register)
  register = natural(register, 0xffffffff)
  if is_copied() then
    return (values[register] or 0) + 0.0
  end
  return host.value(register) + 0.0
end

bos = {}

function bos.base(address)
  return host.buffer_base(natural((tonumber(address) or 0) + 0.0, -1)) + 0.0
end

function bos.size(address)
  return host.buffer_rest(natural((tonumber(address) or 0) + 0.0, -1)) + 0.0
end

-- Packets

function packet_meta.__index(packet, key)
  local space = rawget(packet, SPACE)
  local element = space.elements[natural(key, 0xffffffff)]
  if not element then
    return nil
  end
  return element_value(space, element, element.offset)
end

-- What script.py calls. Each returns the message of an error, or nothing.

local function message(problem)
  return text_of(problem) or "(null)"
end

local function run(callback, ...)
  reads, values = 0, nil
  local is_done, problem = pcall(callback, ...)
  return not is_done and "error running function `f': " .. message(problem) or nil
end

local exported = {}

function exported.load(path)
  local script, problem = loadfile(path)
  if not script then
    return message(problem)
  end
  local is_done, failure = pcall(script)
  return not is_done and message(failure) or nil
end

function exported.call(name, ...)
  local callback = globals[name]
  if plain_type(callback) == "function" then
    return run(callback, ...)
  end
end

function exported.has(name)
  return plain_type(globals[name]) == "function"
end

function exported.packet(name, size, elements, read, text)
  local space = { elements = elements, read = read, text = text }
  return run(globals[name], setmetatable({ [SPACE] = space }, packet_meta), size + 0.0)
end

function exported.flush()
  return (stdout:flush())
end

-- Lua that runs for long lets Python see its signals now and then.
debug.sethook(function() host.check_signals() end, "", 1000000)
python = nil
package.loaded.python = nil

return exported
