"""The buffer's verbs as Lua: each runs on the server as one step, whole or not at all.

Keys under the prefix P, `q` naming a session's queue:
  P:sessions        hash   q -> JSON of agent, key and host id, while something of it is here
  P:bodies:q        hash   turn id -> the turn as bytes
  P:heads:q         hash   turn id -> "epoch at number"
  P:waiting:q       zset   turn ids by number
  P:claims:q        hash   lease token -> JSON of the lease's end and the turn ids
  P:tries:q         hash   turn id -> how often a batch beginning with it was claimed
  P:number:q        string number of the last turn
  P:seen            zset   turn ids by the time they were accepted, for idempotent appends
  P:done            zset   lease tokens by the time they were committed, for repeated commits
  P:damaged         hash   turn id -> bytes that do not read back
`seen` and `done` are bounded by age and by number.
"""

_TRIM = """
local function remember(key, member, now, keep_seconds, keep_count)
    redis.call('ZADD', key, now, member)
    redis.call('ZREMRANGEBYSCORE', key, '-inf', now - keep_seconds)
    redis.call('ZREMRANGEBYRANK', key, 0, -1 - keep_count)
end
"""

_GIVE_BACK = """
local function give_back(p, q, ids)
    for _, id in ipairs(ids) do
        local head = redis.call('HGET', p .. ':heads:' .. q, id)
        if head then redis.call('ZADD', p .. ':waiting:' .. q, string.match(head, '(%S+)$'), id) end
    end
end
"""

_FORGET_EMPTY = """
local function forget_empty(p, q)
    if redis.call('HLEN', p .. ':heads:' .. q) == 0 then
        redis.call('HDEL', p .. ':sessions', q)
        redis.call('DEL', p .. ':tries:' .. q, p .. ':claims:' .. q)
    end
end
"""

APPEND = (
    _TRIM
    + """
local p, q, session, id, epoch, at, number, floor, body = unpack(ARGV, 1, 9)
local now, keep_seconds, keep_count = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
if redis.call('ZSCORE', p .. ':seen', id) or redis.call('HEXISTS', p .. ':heads:' .. q, id) == 1 then return 0 end
local last = math.max(tonumber(redis.call('GET', p .. ':number:' .. q) or '0'), tonumber(floor))
local n = tonumber(number)
if n == 0 then n = last + 1 end
if n > last then redis.call('SET', p .. ':number:' .. q, string.format('%d', n)) end
redis.call('HSET', p .. ':bodies:' .. q, id, body)
redis.call('HSET', p .. ':heads:' .. q, id, epoch .. ' ' .. at .. ' ' .. string.format('%d', n))
redis.call('ZADD', p .. ':waiting:' .. q, n, id)
redis.call('HSET', p .. ':sessions', q, session)
remember(p .. ':seen', id, now, keep_seconds, keep_count)
return n
"""
)

CLAIM = (
    _GIVE_BACK
    + """
local p, q, token = ARGV[1], ARGV[2], ARGV[3]
local limit, now, lease_until = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local claims = redis.call('HGETALL', p .. ':claims:' .. q)
for i = 1, #claims, 2 do
    local claim = cjson.decode(claims[i + 1])
    if claims[i] == token then redis.call('HDEL', p .. ':claims:' .. q, token) give_back(p, q, claim.ids)
    elseif tonumber(claim.lease_until) <= now then
        redis.call('HDEL', p .. ':claims:' .. q, claims[i])
        give_back(p, q, claim.ids)
    end
end
local ids, epoch, found = {}, nil, {}
for _, id in ipairs(redis.call('ZRANGE', p .. ':waiting:' .. q, 0, limit - 1)) do
    local head = redis.call('HGET', p .. ':heads:' .. q, id)
    local own = string.match(head, '^%S+')
    if epoch and own ~= epoch then break end
    epoch = own
    ids[#ids + 1] = id
    found[#found + 1] = { id, string.match(head, '(%S+)$'), redis.call('HGET', p .. ':bodies:' .. q, id) }
end
if #ids == 0 then return { 0, {} } end
for _, id in ipairs(ids) do redis.call('ZREM', p .. ':waiting:' .. q, id) end
redis.call('HSET', p .. ':claims:' .. q, token, cjson.encode({ lease_until = lease_until, ids = ids }))
return { redis.call('HINCRBY', p .. ':tries:' .. q, ids[1], 1), found }
"""
)

COMMIT = (
    _TRIM
    + _FORGET_EMPTY
    + """
local p, q, token = ARGV[1], ARGV[2], ARGV[3]
local now, keep_seconds, keep_count = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local claim = redis.call('HGET', p .. ':claims:' .. q, token)
if not claim then
    if redis.call('ZSCORE', p .. ':done', token) then return 1 end
    return 0
end
for _, id in ipairs(cjson.decode(claim).ids) do
    redis.call('HDEL', p .. ':bodies:' .. q, id)
    redis.call('HDEL', p .. ':heads:' .. q, id)
    redis.call('HDEL', p .. ':tries:' .. q, id)
end
redis.call('HDEL', p .. ':claims:' .. q, token)
remember(p .. ':done', token, now, keep_seconds, keep_count)
forget_empty(p, q)
return 1
"""
)

HAND_OVER = (
    _FORGET_EMPTY
    + """
local p, q, token = ARGV[1], ARGV[2], ARGV[3]
local claim = redis.call('HGET', p .. ':claims:' .. q, token)
if not claim then return 0 end
for _, id in ipairs(cjson.decode(claim).ids) do
    redis.call('HDEL', p .. ':bodies:' .. q, id)
    redis.call('HDEL', p .. ':heads:' .. q, id)
    redis.call('HDEL', p .. ':tries:' .. q, id)
    redis.call('ZREM', p .. ':seen', id)
end
redis.call('HDEL', p .. ':claims:' .. q, token)
forget_empty(p, q)
return 1
"""
)

RELEASE = (
    _GIVE_BACK
    + """
local p, q, token = ARGV[1], ARGV[2], ARGV[3]
local claim = redis.call('HGET', p .. ':claims:' .. q, token)
if not claim then return 0 end
redis.call('HDEL', p .. ':claims:' .. q, token)
give_back(p, q, cjson.decode(claim).ids)
return 1
"""
)

RELEASE_ALL = (
    _GIVE_BACK
    + """
local p, released = ARGV[1], 0
for _, q in ipairs(redis.call('HKEYS', p .. ':sessions')) do
    local claims = redis.call('HGETALL', p .. ':claims:' .. q)
    for i = 1, #claims, 2 do
        redis.call('HDEL', p .. ':claims:' .. q, claims[i])
        give_back(p, q, cjson.decode(claims[i + 1]).ids)
        released = released + 1
    end
end
return released
"""
)

SET_ASIDE = (
    _FORGET_EMPTY
    + """
local p, q, token = ARGV[1], ARGV[2], ARGV[3]
local claim = redis.call('HGET', p .. ':claims:' .. q, token)
if not claim then return 0 end
claim = cjson.decode(claim)
local damaged, kept = {}, {}
for i = 4, #ARGV do damaged[ARGV[i]] = true end
for _, id in ipairs(claim.ids) do
    if damaged[id] then
        redis.call('HSET', p .. ':damaged', id, redis.call('HGET', p .. ':bodies:' .. q, id) or '')
        redis.call('HDEL', p .. ':bodies:' .. q, id)
        redis.call('HDEL', p .. ':heads:' .. q, id)
    else
        kept[#kept + 1] = id
    end
end
if #kept == 0 then redis.call('HDEL', p .. ':claims:' .. q, token)
else
    claim.ids = kept
    redis.call('HSET', p .. ':claims:' .. q, token, cjson.encode(claim))
end
forget_empty(p, q)
return 1
"""
)

STATS = """
local p, now = ARGV[1], tonumber(ARGV[2])
local found = {}
local sessions = redis.call('HGETALL', p .. ':sessions')
for i = 1, #sessions, 2 do
    local q = sessions[i]
    local claimed = 0
    for _, claim in ipairs(redis.call('HVALS', p .. ':claims:' .. q)) do
        claim = cjson.decode(claim)
        if tonumber(claim.lease_until) > now then claimed = claimed + #claim.ids end
    end
    local heads = redis.call('HVALS', p .. ':heads:' .. q)
    local epoch, oldest, newest
    for _, head in ipairs(heads) do
        local e, at = string.match(head, '^(%S+) (%S+)')
        e, at = tonumber(e), tonumber(at)
        if not epoch or e < epoch then epoch = e end
        if not oldest or at < oldest then oldest = at end
        if not newest or at > newest then newest = at end
    end
    if epoch then
        found[#found + 1] = { sessions[i + 1], #heads - claimed, claimed, epoch,
            string.format('%.6f', oldest), string.format('%.6f', newest) }
    end
end
return found
"""
