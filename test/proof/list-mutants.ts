import type { Mutant } from './mutant.ts';

const UNIT_MUTANTS: readonly Mutant[] = [
  {
    name: 'no tokens of the output are held',
    find: 'listing.by_unit(1, input, output, held)',
    replace: 'listing.by_unit(1, input, 0, held)',
  },
  {
    name: 'tokens count without those of the output',
    find: 'local tokens = input + output',
    replace: 'local tokens = input',
  },
  {
    name: 'tokens of a cache count nothing',
    find: ' + amount(read) + amount(written_5m) + amount(written_1h)',
    replace: '',
  },
  {
    name: 'credits are held without room for them',
    find: 'if room < credits then credits = room end',
    replace: '',
  },
  {
    name: 'an output is held without room for its tokens',
    find: 'if room - input < output then output = room - input end',
    replace: '',
  },
  {
    name: 'credits are charged without room for them',
    find: "charged = math.min(charged, held + room_to_settle(opened, names, 'c', at, now))",
    replace: '',
  },
  {
    name: 'a limit that only warns refuses what is larger',
    find: "local need = limit[1] >= 'a' and needs[limit[1]]",
    replace: 'local need = needs[limit[1]]',
  },
  {
    name: 'a request that no limit allows is told to wait',
    find: 'if need and need > limit[3] then',
    replace: 'if false then',
  },
];

const WINDOW_MUTANTS: readonly Mutant[] = [
  {
    name: 'a window that rolls is a slice too short',
    find: 'if slice - head + (head - low) % 256 <= SLICES then break end',
    replace: 'if slice - head + (head - low) % 256 < SLICES then break end',
  },
  {
    name: 'a slice that is over counts for ever',
    find: 'if current > 0 then slices = slices .. struct.pack(SLICE, head % 256, current) end',
    replace: '',
  },
  {
    name: 'a week begins on Sunday',
    find: '604800000, 345600000',
    replace: '604800000, 259200000',
  },
  {
    name: 'every month has 31 days',
    find: 'next_start = month_start(start + MORE_THAN_A_MONTH)',
    replace: 'next_start = start + 31 * DAY',
  },
  {
    name: 'a period begins with what the one before held',
    find: "return start, 0, 0, since, ''",
    replace: "return start, 0, held, since, ''",
  },
  {
    name: 'a settlement counts in the windows of its own moment',
    find: 'opened[name] = correct_state(name, opened[name], at, now, changes, released, is_soft)',
    replace:
      'opened[name] = correct_state(name, opened[name], now, now, changes, released, is_soft)',
  },
  {
    name: 'a settlement counts in a window that is over',
    find: 'elseif head - slice <= SLICES and change ~= 0 then',
    replace: 'elseif change ~= 0 then',
  },
  {
    name: 'a settlement counts beyond the amount',
    find: `        if unit >= 'a' and not (is_soft and unit ~= 'c') then
          change = math.min(change, math.max(0, amount - counted))
        end
      end
      local slice`,
    replace: '      end\n      local slice',
  },
  {
    name: 'a settlement counts beyond the amount of a period',
    find: 'if change > 0 then change = math.min(change, math.max(0, most - counted)) end',
    replace: '',
  },
  {
    name: 'a settlement moves a window back with the clock',
    find: 'if slice > head then',
    replace: 'if slice ~= head then',
  },
  {
    name: 'time goes backwards for a list',
    find: 'return last - now <= CLOCK_BEHIND_MAX and last or 0',
    replace: 'return 0',
  },
];

const LEVEL_MUTANTS: readonly Mutant[] = [
  {
    name: 'a group limits nothing',
    find: "add('group', group, group_id, group_list)",
    replace: '',
  },
  {
    name: 'an account limits nothing',
    find: "add('account', account, account_id, account_list)",
    replace: '',
  },
  {
    name: 'a plan has no list',
    find: "    local account_list = (account_limits or '') .. plan_limits",
    replace: "    local account_list = account_limits or ''",
  },
  {
    name: 'of a plan and an account the higher amount holds',
    find: 'rows[code][1] = math.min(rows[code][1], amount)',
    replace: 'rows[code][1] = math.max(rows[code][1], amount)',
  },
  {
    name: 'a settlement does not reach the group',
    find: "if group_id ~= '' then names[#names + 1] = group_name(prefix, group_id) end",
    replace: '',
  },
  {
    name: 'a list that is changed forgets what it has counted',
    find: 'if row and (of == unit or not row.is_own) then',
    replace: 'if false then',
  },
  {
    name: 'a list that was taken off goes on with what it had counted',
    find: "redis.pcall('HDEL', subjects.unlisted[index], 'use')",
    replace: '',
  },
  {
    name: 'a limit that is new takes off what it never counted',
    find: 'if admitted_at < since then',
    replace: 'if false then',
  },
];

const USER_MUTANTS: readonly Mutant[] = [
  {
    name: 'all end users count as one',
    find: "user_id = owner .. ':' .. digest",
    replace: 'user_id = owner',
  },
  {
    name: 'a settlement does not reach the end user',
    find: "if user_id ~= '' then names[#names + 1] = user_name(prefix, user_id) end",
    replace: '',
  },
  {
    name: 'an end user is forgotten while it counts',
    find: 'life = math.max(life, ends)',
    replace: '',
  },
  {
    name: 'an end user goes on with the log of one who was forgotten',
    find: "if blocks == 0 and read.dropped == 0 then redis.call('DEL', log_name(prefix, id)) end",
    replace: '',
  },
  {
    name: 'a list of end users without an end ends with any of them',
    find: 'math.max(life, last[2] - at)',
    replace: 'life',
  },
  {
    name: 'an account has end users without end',
    find: "return redis.call('ZCARD', users) < users_max",
    replace: 'return true',
  },
  {
    name: 'an end user that is required is left out',
    find: "if user and required then return nil, 'user_missing' end",
    replace: '',
  },
  {
    name: 'the template of a group comes before that of its key',
    find: "if template == '' then template, owner = group_template, group_id end",
    replace: "if group_template ~= '' then template, owner = group_template, group_id end",
  },
];

const END_MUTANTS: readonly Mutant[] = [
  {
    name: 'a late settlement gives back what its admission held',
    find: "if counts_in_lists(extras) then redis.call('HSET', done, request_id .. ':extras', extras) end",
    replace: '',
  },
  {
    name: 'a lease that runs out frees its tokens',
    find: 'by_unit(0, 0, 0, charged - held), released, false)',
    replace: 'by_unit(0, -input, -output, charged - held), released, false)',
  },
  {
    name: 'a late settlement counts its tokens twice',
    find: 'changes = by_unit(0, used_input - input, used_output - output, charged)\n',
    replace: 'changes = by_unit(0, used_input, used_output, charged)\n',
  },
  {
    name: 'a hold that was lost counts no request',
    find: 'changes = by_unit(1, used_input, used_output, charged)',
    replace: 'changes = by_unit(0, used_input, used_output, charged)',
  },
  {
    name: 'a lost request that began a period counts nothing',
    find: 'if change > 0 and is_lost_period(start, head, window, now) then',
    replace: 'if false then',
  },
  {
    name: 'a hold that comes back in a new period has all the room',
    find: 'counts, counted = true, 0',
    replace: '',
  },
  {
    name: 'a hold that comes back takes tokens without room',
    find: "input = math.min(input, room('i'), room('t'))",
    replace: '',
  },
  {
    name: 'a hold that is renewed counts in no list',
    find: ".. (extras ~= '' and '||' .. extras or ''))",
    replace: ')',
  },
];

const CLOCK_MUTANTS: readonly Mutant[] = [
  {
    name: 'a limit that began by a clock that was ahead is corrected by nobody',
    find: 'if since > now then since = now end',
    replace: '',
  },
  {
    name: 'a period that a clock was ahead for lasts until its end',
    find: 'if head ~= start then',
    replace: 'if head < start then',
  },
  {
    name: 'a request that a clock was ahead for is not corrected',
    find: "if start == head or slices ~= '' and head >= periods(window, now) and was_moved_back(start, head, slices) then",
    replace: 'if start == head then',
  },
  {
    name: 'a later period that a clock was ahead for begins anew',
    find: "if later == start then return start, later_counted, later_held, since, '' end",
    replace: '',
  },
  {
    name: 'a later period is not corrected before it comes',
    find: 'if start == later then\n          slices',
    replace: 'if false then\n          slices',
  },
  {
    name: 'a period is corrected for all that a clock was ahead for',
    find: 'return later > head and start >= later',
    replace: 'return start > head',
  },
  {
    name: 'a period that comes back gives back what it has lost',
    find: 'return start, counted, held, now, struct',
    replace: 'return start, counted, held, since, struct',
  },
];

const GROUP_MUTANTS: readonly Mutant[] = [
  {
    name: 'a group without limits has no usage',
    find: "local extras_without_limits = (group_id or '') ~= '' and '|,' .. group_id .. ',' or ''",
    replace: "local extras_without_limits = ''",
  },
  {
    name: 'a lease that runs out is charged to no group',
    find: "if not group_id or group_id .. user_id == '' then return '' end",
    replace: "do return '' end",
  },
];

/** What is new with lists: units, windows, levels, end users, and how requests end in them. */
export const LIST_MUTANTS: readonly Mutant[] = [
  ...UNIT_MUTANTS,
  ...WINDOW_MUTANTS,
  ...LEVEL_MUTANTS,
  ...USER_MUTANTS,
  ...END_MUTANTS,
  ...CLOCK_MUTANTS,
  ...GROUP_MUTANTS,
];
