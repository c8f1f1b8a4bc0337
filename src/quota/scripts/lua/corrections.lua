-- Corrects what a request counts in the lists of limits, in the windows of its admission. Nothing
-- is created again for an end user who is forgotten.

-- Returns by how much `change` alters a slice, and the slices after that. A slice never falls below
-- 0.
local function change_slice(slices, head, slice, change)
  local age = head - slice
  for from = #slices - SLICE_BYTES + 1, 1, -SLICE_BYTES do
    local low, amount = struct.unpack(SLICE, slices, from)
    local found_age = (head - low) % 256
    if found_age == age then
      change = math.max(change, -amount)
      return change, string.sub(slices, 1, from - 1) .. struct.pack(SLICE, low, amount + change)
        .. string.sub(slices, from + SLICE_BYTES)
    elseif found_age > age then
      if change <= 0 then return 0, slices end
      local place = from + SLICE_BYTES - 1
      return change, string.sub(slices, 1, place) .. struct.pack(SLICE, slice % 256, change) .. string.sub(slices, place + 1)
    end
  end
  if change <= 0 then return 0, slices end
  return change, struct.pack(SLICE, slice % 256, change) .. slices
end

-- Whether a limit counts in its present period what was admitted in a later one that begins at
-- `start`: the clock was ahead then, and the row was moved back since with all it had counted.
local function was_moved_back(start, head, slices)
  local later = struct.unpack(LATER, slices)
  return later > head and start >= later
end

-- Whether the admission that began a period was lost: a limit still counts in an earlier one.
local function is_lost_period(start, head, window, now)
  return start > head and start <= periods(window, now)
end

-- Returns what a period has counted and holds, with a correction. It adds nothing beyond `most`.
local function correct_period(counted, held, change, released, most)
  if change > 0 then change = math.min(change, math.max(0, most - counted)) end
  return math.max(0, counted + change), math.max(0, held - released)
end

-- Adds `changes` to what an admission counts, as far as its windows still count, and takes
-- `released` from what is held; both by unit. What would pass the amount of a limit that blocks is
-- left out, but for tokens if `is_soft`. Returns the new state.
local function correct_state(name, use, admitted_at, now, changes, released, is_soft)
  local from = STATE_BYTES + 1 + select(2, struct.unpack(STATE, use))
  local parts, bytes_of_use = { string.sub(use, 1, from - 1) }, #use
  while from <= bytes_of_use do
    local unit, window, amount, head, counted, current, held, since, slices, next_from =
      struct.unpack(ROW_AND_SLICES, use, from)
    from = next_from
    local change, before = changes[unit], counted
    if admitted_at < since then
      -- It does not count this request.
    elseif window < 4 then
      local start = periods(window, admitted_at)
      if change > 0 and is_lost_period(start, head, window, now) then
        head, counted, held, since, slices = move_period(start, head, counted, held, since, slices, now)
        before = counted
      end
      local most = unit >= 'a' and not (is_soft and unit ~= 'c') and amount or math.huge
      if start == head or slices ~= '' and head >= periods(window, now) and was_moved_back(start, head, slices) then
        counted, held = correct_period(counted, held, change, released[unit], most)
      end
      if slices ~= '' then
        local later, later_counted, later_held = struct.unpack(LATER, slices)
        if start == later then
          slices = struct.pack(LATER, later, correct_period(later_counted, later_held, change, released[unit], most))
        end
      end
    elseif unit ~= 'r' then
      if change > 0 then
        local slice = math.floor(now * SLICES / window)
        -- A clock that is behind must not take what counts out of its window too early.
        if slice > head then
          counted, current, slices = advance(slice, head, counted, current, slices)
          head, before = slice, counted
        end
        if unit >= 'a' and not (is_soft and unit ~= 'c') then
          change = math.min(change, math.max(0, amount - counted))
        end
      end
      local slice = admitted_at * SLICES / window
      slice = slice - slice % 1
      if slice >= head then
        change = math.max(change, -current)
        counted, current = counted + change, current + change
      elseif head - slice <= SLICES and change ~= 0 then
        change, slices = change_slice(slices, head, slice, change)
        counted = counted + change
      end
      held = math.max(0, held - released[unit])
    end
    if counted > before and counted >= amount * warn_at then
      local level, id = string.match(name, '}:(%a+):(.+)$')
      note_crossing(level, id, unit, window, amount, before, counted, held, admitted_at)
    end
    parts[#parts + 1] =
      struct.pack(ROW_AND_SLICES, unit, window, amount, head, counted, current, held, since, #slices, slices)
  end
  return table.concat(parts)
end

-- Returns how much of a unit all limits that block have room for; limits whose windows no longer
-- count an admission at `admitted_at` have any room.
local function room_in_state(use, wanted_unit, admitted_at, now)
  local room, from = math.huge, STATE_BYTES + 1 + select(2, struct.unpack(STATE, use))
  while from <= #use do
    local unit, window, amount, head, counted, current, _, since, bytes = struct.unpack(ROW, use, from)
    from = from + ROW_BYTES + bytes
    if unit == wanted_unit and admitted_at >= since then
      local counts
      if window < 4 then
        local start, slices = periods(window, admitted_at), string.sub(use, from - bytes, from - 1)
        counts = head >= periods(window, now)
          and (start == head or slices ~= '' and was_moved_back(start, head, slices))
        if is_lost_period(start, head, window, now) then
          counts, counted = true, 0
        end
        if slices ~= '' then
          local later, later_counted = struct.unpack(LATER, slices)
          if later == start then room = math.min(room, math.max(0, amount - later_counted)) end
        end
      else
        local slice = math.floor(now * SLICES / window)
        if slice ~= head then counted = advance(slice, head, counted, current, string.sub(use, from - bytes, from - 1)) end
        counts = slice - math.floor(admitted_at * SLICES / window) <= SLICES
      end
      if counts then room = math.min(room, math.max(0, amount - counted)) end
    end
  end
  return room
end

-- Returns the moment of admission, group, end user, tokens held of input and output, and whether
-- the output may be longer.
local function decode_extras(extras)
  local at, group_id, user_id, input, output, soft =
    string.match(extras, '^(%d+),([^,]*),([^,]*),(%d+),(%d+),(%d)$')
  if not at then return end
  return at + 0, group_id, user_id, input + 0, output + 0, soft == '1'
end

-- The state of a list whose first admission was lost, at `at`; nothing if the record has no list.
local function begin_state(name, is_account, at)
  local text = read_field(name, 'limits') or ''
  local list = is_account and text or select(3, decode_limits(text))
  return list ~= '' and convert_state(list, nil, at)
end

-- Puts the states of all levels of a request into `opened`, where those of other requests of the
-- run may be already. What lists have counted may be lost together with an admission at `lost_at`.
-- Returns the names of their records.
local function open_states(opened, prefix, key, account, group_id, user_id, lost_at)
  local names = { key, account }
  if user_id ~= '' then names[#names + 1] = user_name(prefix, user_id) end
  if group_id ~= '' then names[#names + 1] = group_name(prefix, group_id) end
  local known = {}
  for index = 1, #names do
    local name = names[index]
    if opened[name] == nil then opened[name] = read_state(name) or false end
    if not opened[name] and lost_at and (user_id == '' or index ~= 3) then
      opened[name] = begin_state(name, name == account, lost_at)
    end
    if opened[name] then known[#known + 1] = name end
  end
  return known
end

local function room_to_settle(opened, names, unit, admitted_at, now)
  local room = math.huge
  for _, name in ipairs(names) do
    room = math.min(room, room_in_state(opened[name], unit, admitted_at, now))
  end
  return room
end

-- Corrects the states for the end of a request, and returns what may be charged: no more than is
-- held, and as much beyond that as all lists have room for. `already` is what an expired hold was
-- charged; its request counts that and the tokens that were held. A lost hold counts nothing.
local function settle_levels(opened, prefix, key, account, extras, kind, already, held, charged, usage, now)
  local at, group_id, user_id, input, output, is_soft = decode_extras(extras)
  if not at then return charged end
  local names = open_states(opened, prefix, key, account, group_id, user_id, kind == 'orphan' and at or nil)
  if charged > held and #names > 0 then
    charged = math.min(charged, held + room_to_settle(opened, names, 'c', at, now))
  end
  local used_input, used_output = 0, 0
  local ARRAY, ARRAY_END, COUNTS = 0x90, 0x9f, 6
  local first_byte = string.byte(usage)
  if first_byte and first_byte >= ARRAY and first_byte <= ARRAY_END then
    -- Only the numbers at its beginning: the whole costs as much as a correction.
    local ok, _, _, told, read, written_5m, written_1h, output_told = pcall(cmsgpack.unpack_limit, usage, COUNTS, 1)
    if ok then
      local function amount(value) return is_amount(tonumber(value)) and value or 0 end
      used_input = amount(told) + amount(read) + amount(written_5m) + amount(written_1h)
      used_output = amount(output_told)
    end
  end
  local released = by_unit(0, 0, 0, 0)
  local changes
  if kind == 'late' then
    changes = by_unit(0, used_input - input, used_output - output, charged)
  elseif kind == 'orphan' then
    changes = by_unit(1, used_input, used_output, charged)
  else
    released = by_unit(1, input, output, held)
    changes = by_unit(0, used_input - input, used_output - output, charged - held)
  end
  for _, name in ipairs(names) do
    opened[name] = correct_state(name, opened[name], at, now, changes, released, is_soft)
  end
  return charged
end

-- Nobody is left to tell how many tokens were used, so those that were held count as used.
local function expire_levels(opened, prefix, key, account, extras, held, charged, now)
  local at, group_id, user_id, input, output = decode_extras(extras)
  if not at then return end
  local released = by_unit(1, input, output, held)
  for _, name in ipairs(open_states(opened, prefix, key, account, group_id, user_id)) do
    opened[name] = correct_state(name, opened[name], at, now, by_unit(0, 0, 0, charged - held), released, false)
  end
end

-- Counts a hold that was lost and is made again, as far as others have not taken the room
-- meanwhile. Returns what it holds then, and its extras.
local function restore_levels(opened, prefix, key, account, extras, held, now)
  local at, group_id, user_id, input, output, is_soft = decode_extras(extras)
  if not at then return held, '' end
  local names = open_states(opened, prefix, key, account, group_id, user_id, at)
  local function room(unit) return room_to_settle(opened, names, unit, at, now) end
  held = math.min(held, room('c'))
  input = math.min(input, room('i'), room('t'))
  output = math.max(0, math.min(output, room('o'), room('t') - input))
  local released = by_unit(-1, -input, -output, -held)
  for _, name in ipairs(names) do
    opened[name] = correct_state(name, opened[name], at, now, by_unit(1, input, output, held), released, false)
  end
  return held, table.concat({ whole(at), group_id, user_id, whole(input), whole(output), is_soft and '1' or '0' }, ',')
end

local function write_states(opened)
  for name, use in pairs(opened) do
    if use then redis.pcall('HSET', name, 'use', use) end
  end
end

return { settle_levels = settle_levels, expire_levels = expire_levels, restore_levels = restore_levels,
  write_states = write_states, warn_from = warn_from, tell_crossed = tell_crossed, telling = telling }
