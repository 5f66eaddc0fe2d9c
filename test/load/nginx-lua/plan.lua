-- Counts requests against the plan of their client, in Redis: a window that slides over two fixed ones.
local redis = require "nginx.redis"

local M = {}

local settings, sha

-- KEYS: the counters of this window and of the one before. ARGV: the limit, which part of the window before still counts,
-- and for how long a counter is needed. Answers what remains, or -1 where there is no room.
local script = [[
local before = tonumber(redis.call('GET', KEYS[2]) or 0) * tonumber(ARGV[2])
local count = tonumber(redis.call('GET', KEYS[1]) or 0)
local left = math.floor(tonumber(ARGV[1]) - before - count)
if left < 1 then return -1 end
if redis.call('INCR', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return left - 1
]]

function M.configure(given)
  settings = given
  sha = ngx.sha1_bin(script):gsub(".", function(byte) return ("%02x"):format(byte:byte()) end)
  for name, plan in pairs(settings.plans) do
    plan.policy = ('"%s";q=%d;w=%d'):format(name, plan.limit, plan.window_sec)
    plan.state = '"' .. name .. '";r=%d;t=%d'
    plan.ttl_ms = 2000 * plan.window_sec
  end
end

local function eval(connection, ...)
  local left, problem = connection:evalsha(sha, ...)
  if left or not problem:find("NOSCRIPT", 1, true) then return left, problem end
  return connection:eval(script, ...)
end

local function count(client_id, plan, window, gone)
  local connection = redis:new()
  connection:set_timeouts(1000, 1000, 1000)
  local is_connected, problem = connection:connect("127.0.0.1", settings.redis_port, { pool_size = 128 })
  if not is_connected then return nil, problem end
  local name = "plan:" .. client_id .. ":"
  local left
  left, problem = eval(connection, 2, name .. window, name .. window - 1, plan.limit, 1 - gone, plan.ttl_ms)
  if not left then return nil, problem end
  connection:set_keepalive(60000)
  return left
end

-- What came of it: `denied`, `policy` and `state` for the header fields, `wait_sec`. Nothing and a reason where Redis failed.
function M.charge(client_id)
  local plan = settings.plans[settings.plan_of[client_id] or "load"]
  local at = ngx.now() / plan.window_sec
  local window = math.floor(at)
  local left, problem = count(client_id, plan, window, at - window)
  if not left then return nil, problem end
  local wait_sec = math.ceil((1 - at + window) * plan.window_sec)
  local denied = left < 0
  return { denied = denied, policy = plan.policy, state = plan.state:format(denied and 0 or left, wait_sec), wait_sec = wait_sec }
end

return M
