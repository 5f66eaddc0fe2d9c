-- Verifies JWT access tokens (RFC 9068) signed by ES256, and keeps what they say until they expire.
local cjson = require "cjson.safe"
local digest = require "openssl.digest"
local lrucache = require "resty.lrucache"
local ngx_base64 = require "ngx.base64"
local pkey = require "openssl.pkey"

local M = {}

local kept, settings, public_key

function M.configure(given)
  settings = given
  kept = lrucache.new(10000)
  public_key = pkey.new(given.public_key)
end

local function decode_json(part)
  local bytes = ngx_base64.decode_base64url(part)
  local value = bytes and cjson.decode(bytes)
  return type(value) == "table" and value or nil
end

local function to_der_integer(bytes)
  local number = bytes:gsub("^%z+", "")
  if number == "" or number:byte(1) >= 128 then number = "\0" .. number end
  return "\2" .. string.char(#number) .. number
end

-- A JWS has the two numbers one after the other (RFC 7518 section 3.4), OpenSSL wants them in DER.
local function to_der(signature)
  local numbers = to_der_integer(signature:sub(1, 32)) .. to_der_integer(signature:sub(33))
  return "\48" .. string.char(#numbers) .. numbers
end

local function is_signed(text, part)
  local signature = ngx_base64.decode_base64url(part)
  if not signature or #signature ~= 64 then return false end
  return public_key:verify(to_der(signature), digest.new("sha256"):update(text))
end

local function scopes_of(scope)
  local scopes = {}
  for name in scope:gmatch("%S+") do scopes[name] = true end
  return scopes
end

local function to_record(claims)
  local now = ngx.time()
  if claims.iss ~= settings.issuer or claims.aud ~= settings.issuer then return end
  if type(claims.exp) ~= "number" or claims.exp <= now then return end
  if type(claims.nbf) ~= "number" or claims.nbf > now then return end
  if type(claims.client_id) ~= "string" or type(claims.sub) ~= "string" then return end
  local scope = type(claims.scope) == "string" and claims.scope or ""
  return { client_id = claims.client_id, sub = claims.sub, scope = scope, scopes = scopes_of(scope), exp = claims.exp }
end

local function verify(token)
  local head, body, signature = token:match("^([%w_-]+)%.([%w_-]+)%.([%w_-]+)$")
  local header = head and decode_json(head)
  if not header or header.alg ~= "ES256" or header.typ ~= "at+jwt" then return end
  if not is_signed(head .. "." .. body, signature) then return end
  local claims = decode_json(body)
  return claims and to_record(claims)
end

-- What a good token says: `client_id`, `sub`, `scope`, and its `scopes` as keys. Nothing where it is missing or no good.
function M.find(authorization)
  if not authorization or authorization:sub(1, 7):lower() ~= "bearer " then return end
  local token = authorization:sub(8)
  local record = kept:get(token)
  if record then return record end
  record = verify(token)
  if record then kept:set(token, record, record.exp - ngx.now()) end
  return record
end

return M
