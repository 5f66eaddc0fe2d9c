-- Method and body come from the environment, since wrk has no options for them; headers are given with -H.
wrk.method = os.getenv("LOAD_METHOD")
-- A body, even an empty one, would put a Content-Length on a GET.
if os.getenv("LOAD_BODY") ~= "" then
  wrk.body = os.getenv("LOAD_BODY")
end

-- With a file of tokens there is a request for each line, all put together before the first is sent.
local tokens = os.getenv("LOAD_TOKENS")
if tokens ~= "" then
  local requests = {}
  function init()
    for token in io.lines(tokens) do
      wrk.headers["Authorization"] = "Bearer " .. token
      requests[#requests + 1] = wrk.format()
    end
  end
  function request()
    return requests[math.random(#requests)]
  end
end

-- One line of JSON for wrk.ts. Latencies are in microseconds; `status` counts answers of 400 and above.
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"durationUs":%d,"p50Us":%d,"p99Us":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect + errors.read + errors.write + errors.timeout
  ))
end
