-- What a request passes before nginx forwards it: a token, its scope, and room in the plan of its client.
local access_token = require "access-token"
local plan = require "plan"

local M = {}

local function refuse(status, challenge)
  ngx.header["WWW-Authenticate"] = challenge
  return ngx.exit(status)
end

-- For nginx's own log, and for the upstream.
local function tell(record)
  local var = ngx.var
  var.client_id = record.client_id
  var.subject = record.sub
  var.scope = record.scope
end

function M.check(scope)
  local var, header = ngx.var, ngx.header
  local record = access_token.find(var.http_authorization)
  if not record then
    return refuse(401, 'Bearer realm="nginx"')
  end
  if not record.scopes[scope] then
    return refuse(403, 'Bearer realm="nginx", error="insufficient_scope", scope="' .. scope .. '"')
  end
  tell(record)
  local verdict, problem = plan.charge(record.client_id)
  if not verdict then
    ngx.log(ngx.CRIT, "the plan cannot be charged: ", problem)
    return refuse(503)
  end
  header["RateLimit-Policy"] = verdict.policy
  header["RateLimit"] = verdict.state
  if verdict.denied then
    header["Retry-After"] = verdict.wait_sec
    return refuse(429)
  end
end

return M
