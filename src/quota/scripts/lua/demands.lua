-- What a request needs of the lists of limits, and what they have room for.

-- Returns when nothing of a limit will count any more or, with a need, when it has room for it if
-- nothing more is used. The need is not above the amount.
local function wait_for(limit, need, now)
  local _, window, amount, head, counted, current, _, _, slices, subject, times = unpack(limit)
  if window < 4 then return select(2, periods(window, now)) - now end
  if times then
    if not need then return times.reset end
    return find_wait(times, subject.prefix, subject.id .. ':' .. window, amount, now, window)
  end
  local function left_by(slice) return math.ceil((slice + SLICES + 1) * window / SLICES) - now end
  if not need then
    if current > 0 then return left_by(head) end
    return slices == '' and 0 or left_by(head - (head - string.byte(slices, -SLICE_BYTES)) % 256)
  end
  local excess = counted + need - amount
  for from = 1, #slices, SLICE_BYTES do
    local low, freed = struct.unpack(SLICE, slices, from)
    excess = excess - freed
    if excess <= 0 then return left_by(head - (head - low) % 256) end
  end
  return left_by(head)
end

-- The names of the windows of the calendar.
local function name_of(window)
  return window < 4 and string.sub('dwm', window, window) or window
end

-- Returns the refusal of a request for which some limit has no room. A limit that is smaller than
-- what the request needs comes first, then limits of requests, of tokens and of credits; among
-- these, the one with the longest wait.
local function refuse_by_limits(limits, needs, now)
  for _, limit in ipairs(limits) do
    local need = limit[1] >= 'a' and needs[limit[1]]
    if need and need > limit[3] then
      return { 'too_large', limit[10].level, limit[1], name_of(limit[2]), limit[3], need }
    end
  end
  for _, units in ipairs({ 'r', 'tio', 'c' }) do
    local met, longest = nil, 0
    for _, limit in ipairs(limits) do
      local unit = limit[1]
      local need = string.find(units, unit, 1, true) and needs[unit] or 0
      if need > 0 and need > limit[3] - limit[5] then
        local wait = wait_for(limit, need, now)
        if wait > longest then met, longest = limit, wait end
      end
    end
    if met then
      return { 'limit', met[10].level, met[1], name_of(met[2]), met[3], met[5], math.min(met[7], met[5]), longest,
        wait_for(met, nil, now) }
    end
  end
end

-- Returns the tokens that are held of input and output, the credits that there is room for, and the
-- refusal, if a limit leaves no room. An output that may be shorter takes the room that there is.
-- A limit that was passed has room below 0, and none for a request that needs nothing of it.
local function meet_limits(limits, least_micros, numbers, now)
  local input, output, output_least = struct.unpack('<ddd', numbers, 25)
  if not (is_amount(input) and is_amount(output) and is_amount(output_least)) then return 0, 0, 0, { 'invalid' } end
  local needs = by_unit(1, input, output_least, least_micros)
  local credits, is_met = math.huge, false
  for index = 1, #limits do
    local limit = limits[index]
    local unit, room = limit[1], limit[3] - limit[5]
    if unit >= 'a' then
      if needs[unit] > room and needs[unit] > 0 then is_met = true end
      if unit == 'c' then
        if room < credits then credits = room end
      elseif unit == 'o' then
        if room < output then output = room end
      elseif unit == 't' then
        if room - input < output then output = room - input end
      end
    end
  end
  -- Of the times of requests some may turn out to be gone, so a limit that looks full may have
  -- room.
  return input, math.max(0, output), math.max(0, credits), is_met and refuse_by_limits(limits, needs, now) or nil
end

-- The part of a hold that tells what its request counts in the lists: when it was admitted, group,
-- end user, tokens held of input and output, and 1 if the output may become longer than that.
local function encode_extras(at, group_id, user_id, input, output, numbers)
  return '|' .. whole(at) .. ',' .. group_id .. ',' .. user_id .. ',' .. whole(input) .. ',' .. whole(output)
    .. ',' .. whole((struct.unpack('<d', numbers, 49)))
end

-- Adds the limit that has least left, for requests and each unit of tokens.
local function add_tightest(reply, limits, now)
  for _, unit in ipairs({ 'r', 't', 'i', 'o' }) do
    local tightest
    for index = 1, #limits do
      local limit = limits[index]
      if limit[1] == unit and (not tightest or limit[3] - limit[5] < tightest[3] - tightest[5]) then tightest = limit end
    end
    if tightest then
      local count = #reply
      reply[count + 1], reply[count + 2], reply[count + 3] = tightest[10].level, unit, name_of(tightest[2])
      reply[count + 4], reply[count + 5] = tightest[3], math.max(0, tightest[3] - tightest[5])
      reply[count + 6] = wait_for(tightest, nil, now)
    end
  end
end

-- Adds level, unit, window, amount, counted and held of each limit, and when nothing of it will
-- count any more. A request may run for longer than its window: what it holds counts no more then.
local function describe_limits(reply, limits, now)
  for _, limit in ipairs(limits) do
    local count = #reply
    reply[count + 1], reply[count + 2], reply[count + 3] = limit[10].level, limit[1], name_of(limit[2])
    reply[count + 4], reply[count + 5], reply[count + 6] = limit[3], limit[5], math.min(limit[7], limit[5])
    reply[count + 7] = wait_for(limit, nil, now)
  end
end

return { describe_limits = describe_limits, read_levels = read_levels, meet_limits = meet_limits,
  encode_extras = encode_extras, by_unit = by_unit, hold_in_limits = hold_in_limits, warn_from = warn_from,
  note_crossing = note_crossing, tell_crossed = tell_crossed, telling = telling, add_tightest = add_tightest, write_levels = write_levels }
