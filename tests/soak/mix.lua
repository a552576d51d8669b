-- What wrk's 200 connections ask for: a mix of routes in a random order, and how the answers were counted.
-- Its words after "--": the seed, and the names of sound models.
local threads, seed, models = {}, 1, {}

function setup(thread)
    thread:set("number", #threads)
    table.insert(threads, thread)
end

local function post(path, body, headers)
    headers = headers or {}
    headers["Content-Type"] = headers["Content-Type"] or "application/json"
    return wrk.format("POST", path, headers, body)
end

local function model()
    return models[math.random(#models)]
end

local function chat(stream)
    return string.format('{"model":"%s","stream":%s,"messages":[{"role":"user","content":"hello"}]}', model(), stream)
end

-- Each route as often as its number says.
local routes = {
    { 20, function() return post("/v1/chat/completions", chat("false")) end },
    { 20, function() return post("/v1/chat/completions", chat("true")) end },
    { 5, function() return post("/v1/completions", string.format('{"model":"%s","prompt":"x"}', model())) end },
    { 5, function() return post("/v1/responses", string.format('{"model":"%s","input":"x"}', model())) end },
    { 5, function() return post("/v1/messages", string.format(
        '{"model":"%s","max_tokens":9,"messages":[{"role":"user","content":"x"}]}', model())) end },
    { 5, function() return post("/api/chat", chat("true")) end },
    { 5, function() return post("/api/generate", string.format('{"model":"%s","prompt":"x"}', model())) end },
    { 5, function() return wrk.format("GET", "/live") end },
    { 5, function() return wrk.format("GET", "/v1/health") end },
    { 3, function() return wrk.format("GET", "/v1/models") end },
    { 3, function() return wrk.format("GET", "/v1/stats") end },
    { 3, function() return wrk.format("GET", "/metrics") end },
    { 3, function() return wrk.format("GET", "/api/ps") end },
    { 3, function() return wrk.format("GET", "/api/tags") end },
    { 1, function() return wrk.format("GET", "/logs?lines=20") end },
    { 1, function() return wrk.format("GET", "/v1/system-info") end },
    { 2, function() return post("/v1/chat/completions", "{") end },
    { 2, function() return post("/v1/chat/completions", '{"model":"nobody","messages":[{"role":"user","content":"x"}]}') end },
    { 1, function() return post("/v1/chat/completions", "{}", { ["Origin"] = "http://example.com" }) end },
    { 1, function() return post("/v1/chat/completions", "{}", { ["Content-Type"] = "text/plain" }) end },
    { 1, function() return wrk.format("GET", "/nowhere") end },
    { 1, function() return wrk.format("DELETE", "/v1/chat/completions") end },
}

function init(args)
    seed = tonumber(args[1])
    for i = 2, #args do
        table.insert(models, args[i])
    end
    math.randomseed(seed * 1000 + number)
    total = 0
    for _, r in ipairs(routes) do
        total = total + r[1]
    end
    statuses, cut, sample = "", 0, ""
    counts = {}
end

function request()
    local at = math.random(total)
    for _, r in ipairs(routes) do
        at = at - r[1]
        if at <= 0 then
            return r[2]()
        end
    end
end

-- A stream that a killed process has cut short ends in an error event and is still a 200.
function response(status, headers, body)
    counts[status] = (counts[status] or 0) + 1
    if status == 200 and string.find(body, 'model_process_failed', 1, true) then
        cut = cut + 1
    end
    if status >= 500 and status ~= 503 and #sample < 2000 then
        sample = sample .. status .. " " .. string.sub(body, 1, 300) .. "\n"
    end
    statuses = ""
    for s, n in pairs(counts) do
        statuses = statuses .. s .. "=" .. n .. " "
    end
end

function done(summary, latency, requests)
    local all, cuts, samples = {}, 0, ""
    for _, t in ipairs(threads) do
        for s, n in string.gmatch(t:get("statuses"), "(%d+)=(%d+)") do
            all[s] = (all[s] or 0) + tonumber(n)
        end
        cuts = cuts + t:get("cut")
        samples = samples .. t:get("sample")
    end
    local e = summary.errors
    io.write(string.format('RESULT {"connect":%d,"read":%d,"write":%d,"timeout":%d,"cut":%d,"requests":%d,"statuses":{',
        e.connect, e.read, e.write, e.timeout, cuts, summary.requests))
    local first = true
    for s, n in pairs(all) do
        io.write(string.format('%s"%s":%d', first and "" or ",", s, n))
        first = false
    end
    io.write("}}\n", samples)
end
