"""GET /metrics, read by a parser written from the rules of Prometheus' text format: every documented name with its
type, and numbers that agree with what was asked for."""
import math
import re


import pytest

from conftest import wait_until

HELLO = [{"role": "user", "content": "hello"}]
NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


class Family:
    def __init__(self, name):
        self.name, self.kind, self.help = name, None, None
        self.samples = {}  # (name, sorted labels) -> value

    def value(self, suffix="", **labels):
        return self.samples[self.name + suffix, tuple(sorted(labels.items()))]

    def labels(self, suffix=""):
        return [dict(labels) for name, labels in self.samples if name == self.name + suffix]


def unescape(text, quoted):
    out, at = [], 0
    while at < len(text):
        if text[at] == "\\":
            known = {"\\": "\\", "n": "\n", **({'"': '"'} if quoted else {})}
            assert at + 1 < len(text) and text[at + 1] in known, f"a bad escape in {text!r}"
            out.append(known[text[at + 1]])
            at += 2
        else:
            assert text[at] != "\n" and not (quoted and text[at] == '"')
            out.append(text[at])
            at += 1
    return "".join(out)


def parse_labels(line, at):
    """Behind the brace: labels and where they end."""
    labels = {}
    while line[at] != "}":
        name = LABEL.match(line, at)
        assert name, f"no label name in {line!r} at {at}"
        at = name.end()
        assert line[at:at + 2] == '="', line
        end = at = at + 2
        while line[end] != '"':
            end += 2 if line[end] == "\\" else 1
        assert name.group() not in labels, line
        labels[name.group()] = unescape(line[at:end], True)
        at = end + 1
        if line[at] == ",":
            at += 1
        else:
            assert line[at] == "}", line
    return labels, at + 1


def parse_number(text):
    special = {"+Inf": math.inf, "-Inf": -math.inf, "NaN": math.nan}
    if text in special:
        return special[text]
    assert re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text), text
    return float(text)


def family_of(name, families):
    for suffix in ("_bucket", "_sum", "_count"):
        base = name.removesuffix(suffix)
        if base != name and base in families and families[base].kind == "histogram":
            return families[base]
    return families.get(name)


def parse(text):
    families, current = {}, None
    assert text.endswith("\n"), "the last line must end in a line feed"
    for line in text[:-1].split("\n"):
        assert line.strip(), "an empty line"
        if line.startswith("# "):
            _, word, name, rest = line.split(" ", 3)
            assert word in ("HELP", "TYPE") and NAME.fullmatch(name), line
            family = families.setdefault(name, Family(name))
            assert not family.samples, f"{word} of {name} stands behind its samples"
            if word == "HELP":
                assert family.help is None, f"a second HELP of {name}"
                family.help = unescape(rest, False)
            else:
                assert family.kind is None, f"a second TYPE of {name}"
                assert rest in ("counter", "gauge", "histogram", "summary", "untyped"), line
                family.kind = rest
            current = name
            continue
        assert not line.startswith("#"), line
        name = NAME.match(line)
        assert name, line
        at, labels = name.end(), {}
        if line[at] == "{":
            labels, at = parse_labels(line, at + 1)
        words = line[at:].split()
        assert line[at] == " " and len(words) in (1, 2), line
        family = family_of(name.group(), families)
        assert family and family.kind and family.help is not None, f"no TYPE or HELP before {line!r}"
        assert family.name == current, f"{line!r} stands among samples of {current}"
        key = name.group(), tuple(sorted(labels.items()))
        assert key not in family.samples, f"twice: {line!r}"
        family.samples[key] = parse_number(words[0])
    for family in families.values():
        if family.kind == "counter":
            assert all(v >= 0 for v in family.samples.values()), family.name
        if family.kind == "histogram":
            check_histogram(family)
    return families


def check_histogram(family):
    groups = {}
    for (name, labels), value in family.samples.items():
        rest = tuple(l for l in labels if l[0] != "le")
        group = groups.setdefault(rest, {"buckets": []})
        if name.endswith("_bucket"):
            group["buckets"].append((parse_number(dict(labels)["le"]), value))
        else:
            group[name[len(family.name):]] = value
    for labels, group in groups.items():
        bounds = [b for b, _ in group["buckets"]]
        counts = [c for _, c in group["buckets"]]
        assert bounds == sorted(set(bounds)) and bounds[-1] == math.inf, (family.name, labels)
        assert counts == sorted(counts), (family.name, labels)
        assert group["_count"] == counts[-1] and group["_sum"] >= 0, (family.name, labels)


def ask(server, model, client, **fields):
    return server.post("/v1/chat/completions", {"model": model, "messages": HELLO, **fields},
                       headers={"X-Client-Id": client})


def scrape(server):
    reply = server.get("/metrics")
    assert reply.status == 200
    assert reply.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return parse(reply.body.decode())


# LocalLLM's document lists these; the others are Lemonade's, and what the documents of LayerScale and DPPAN say.
DOCUMENTED = {
    "counter": """localllm_requests_total localllm_requests_completed_total localllm_requests_errored_total
        localllm_requests_cancelled_total localllm_stream_chunks_total localllm_inference_seconds_total
        localllm_client_requests_total
        lemonade_requests_total lemonade_input_tokens_total lemonade_output_tokens_total lemonade_prompt_tokens_total
        lemonade_cache_tokens_total lemonade_model_requests_total lemonade_model_input_tokens_total
        lemonade_model_output_tokens_total lemonade_model_prompt_tokens_total
        layerscale_requests_total layerscale_flash_queries_total layerscale_flash_hits_total
        dppan_requests_total dppan_tokens_total dppan_model_requests_total dppan_model_tokens_total""",
    "gauge": """localllm_inference_seconds_avg localllm_chunks_per_second_avg localllm_queue_depth localllm_inflight
        localllm_engines_loaded localllm_engine_loaded localllm_client_inference_seconds_avg
        lemonade_server_up lemonade_server_info lemonade_loaded_models lemonade_max_loaded_models lemonade_model_info
        lemonade_model_loaded lemonade_model_input_tokens lemonade_model_output_tokens lemonade_model_prompt_tokens
        lemonade_model_time_to_first_token_seconds lemonade_model_tokens_per_second lemonade_cpu_usage_percent
        lemonade_memory_used_gb lemonade_gpu_usage_percent lemonade_vram_used_gb lemonade_npu_usage_percent
        layerscale_context_pool_size layerscale_context_pool_in_use layerscale_queue_depth
        layerscale_stream_queue_depth
        dppan_total_nodes dppan_ready_nodes dppan_avg_latency_ms dppan_model_avg_latency_ms""",
    "histogram": """layerscale_request_duration_seconds layerscale_time_to_first_token_seconds
        layerscale_inter_token_seconds quince_time_to_first_token_seconds quince_inter_token_seconds
        quince_model_load_seconds quince_queue_wait_seconds quince_request_duration_seconds""",
}


def test_every_documented_name_has_its_type(server):
    families = scrape(server)
    for kind, names in DOCUMENTED.items():
        for name in names.split():
            assert families[name].kind == kind, name
    assert families["lemonade_server_up"].value() == 1
    assert server.request("HEAD", "/metrics").status == 200
    assert server.get("/v1/metrics").status == 404  # at the root only
    assert families["lemonade_memory_used_gb"].value() > 0
    assert families["quince_resident_memory_bytes"].value() > 1e6


def test_the_parser_knows_what_is_wrong():
    good = "# HELP a b\n# TYPE a counter\n"
    parse(good + 'a{x="\\\\\\"\\n"} 1\n')
    histogram = "# HELP h x\n# TYPE h histogram\n"
    parse(histogram + 'h_bucket{le="1"} 1\nh_bucket{le="+Inf"} 2\nh_sum 3\nh_count 2\n')
    for bad in (good + "a 1", good + "a -1\n", good + "a 1\na 2\n", good + 'a{x="\\t"} 1\n', "a 1\n", good + good,
                good + "a one\n", good + "# HELP b c\n# TYPE b gauge\nb 1\na 1\n", good + 'a{x="1",x="2"} 1\n',
                histogram + 'h_bucket{le="1"} 3\nh_bucket{le="+Inf"} 2\nh_sum 3\nh_count 2\n',
                histogram + 'h_bucket{le="1"} 1\nh_sum 3\nh_count 2\n',
                histogram + 'h_bucket{le="1"} 1\nh_bucket{le="+Inf"} 2\nh_sum 3\nh_count 3\n'):
        with pytest.raises(AssertionError):
            parse(bad)


def test_numbers_agree_with_what_was_asked(house):
    server = house.start()
    model = house.model(server, "m", tokens=5, token_ms=2)
    idle = house.model(server, "idle")
    for stream in (False, True):
        assert ask(server, model, "tester", stream=stream).status == 200
    assert server.chat("nobody").status == 404
    f = scrape(server)
    for name in ("localllm_requests_total", "lemonade_requests_total", "layerscale_requests_total",
                 "dppan_requests_total"):
        assert f[name].value() == 3, name
    assert f["localllm_requests_completed_total"].value() == 2
    assert f["localllm_requests_errored_total"].value() == 1
    assert f["localllm_requests_cancelled_total"].value() == 0
    assert f["localllm_stream_chunks_total"].value() == 10
    assert f["localllm_client_requests_total"].value(client="tester") == 2
    assert f["localllm_engines_loaded"].value() == f["lemonade_loaded_models"].value() == 1
    assert f["localllm_engine_loaded"].labels() == [{"key": f"{model}_1000_CPU", "backend": "CPU"}]
    phone = server.get("/health", headers={"X-API-Profile": "localllm"}).json
    assert (phone["queue_depth"], phone["engines_loaded"]) == (0, 1)
    assert (phone["engines"][0]["key"], phone["engines"][0]["backend"]) == (f"{model}_1000_CPU", "CPU")
    assert f["localllm_queue_depth"].value() == f["localllm_inflight"].value() == 0
    seconds = f["localllm_inference_seconds_total"].value()
    assert seconds > 0.01
    assert f["localllm_inference_seconds_avg"].value() == pytest.approx(seconds / 2)
    assert f["localllm_chunks_per_second_avg"].value() == pytest.approx(10 / seconds)
    assert f["localllm_client_inference_seconds_avg"].value(client="tester") == pytest.approx(seconds / 2)
    # the fake model says: 7 tokens of prompt, 3 of them cached
    assert f["lemonade_prompt_tokens_total"].value() == 14
    assert f["lemonade_input_tokens_total"].value() == 8
    assert f["lemonade_cache_tokens_total"].value() == 6
    assert f["lemonade_output_tokens_total"].value() == f["dppan_tokens_total"].value() == 10
    labels = f["lemonade_model_info"].labels()
    assert [l["model_name"] for l in labels] == [model] and idle != model
    assert labels[0]["recipe"] == "llamacpp" and labels[0]["type"] == "llm" and labels[0]["device"] == "cpu"
    assert f["lemonade_model_loaded"].value(**labels[0]) == 1
    assert f["lemonade_model_output_tokens"].value(**labels[0]) == 5
    assert f["lemonade_model_output_tokens_total"].value(**labels[0]) == 10
    assert f["lemonade_model_tokens_per_second"].value(**labels[0]) > 0
    for name, count in (("time_to_first_token", 2), ("inter_token", 8), ("request_duration", 2), ("queue_wait", 2)):
        assert f[f"quince_{name}_seconds"].value("_count", model=model) == count, name
    assert f["layerscale_inter_token_seconds"].value("_count") == 8
    assert f["quince_requests_total"].value(model=model) == 2 and f["quince_requests_total"].value() == 1
    assert sum(f["quince_requests_total"].samples.values()) == 3
    assert f["layerscale_context_pool_size"].value(model=model) == 4


def test_labels_are_escaped(house):
    server = house.start()
    model = house.model(server, "m", tokens=1)
    client = 'quo"te\\back'
    assert ask(server, model, client).status == 200
    assert scrape(server)["localllm_client_requests_total"].value(client=client) == 1


def test_clients_beyond_the_limit_are_others(house):
    server = house.start()
    model = house.model(server, "m", tokens=1)
    for i in range(40):
        ask(server, model, f"client-{i}")
    counts = scrape(server)["localllm_client_requests_total"]
    assert len(counts.samples) == 33 and counts.value(client="other") == 8
    assert sum(counts.samples.values()) == 40


def test_what_runs_and_what_waits(house):
    server = house.start()
    model = house.model(server, "m", tokens=10**7, token_ms=1, slots=4)
    streams = [server.stream(model) for _ in range(2)]
    for _, response in streams:
        while b"word" not in response.readline():
            pass
    f = scrape(server)
    assert f["localllm_inflight"].value() == f["layerscale_requests_in_flight"].value() == 2
    assert f["layerscale_context_pool_in_use"].value(model=model) == 2
    for connection, response in streams:
        response.close()
        connection.close()
    wait_until(lambda: scrape(server)["localllm_requests_cancelled_total"].value() == 2, what="both cancelled")
    wait_until(lambda: scrape(server)["localllm_inflight"].value() == 0, what="nothing that runs")


def value(server, name, **labels):
    return scrape(server)[name].value(**labels)


def test_what_becomes_of_models(house):
    server = house.start("--max-loaded-models", "1")
    a, b = (house.model(server, name, tokens=1) for name in "ab")
    for model in (a, b, a):
        assert server.chat(model).status == 200
    f = scrape(server)
    assert f["quince_model_loads_total"].value(model=a) == 2 and f["quince_model_loads_total"].value(model=b) == 1
    assert f["quince_model_load_seconds"].value("_count", model=a) == 2
    assert f["quince_model_evictions_total"].value(model=a) == f["quince_model_evictions_total"].value(model=b) == 1
    assert server.chat(a, keep_alive=0).status == 200
    wait_until(lambda: value(server, "quince_model_idle_unloads_total", model=a) == 1, what="an idle unload")
    refused = house.model(server, "refused", load_fail="no good")
    assert server.chat(refused).status >= 400
    assert value(server, "quince_model_load_failures_total", model=refused) == 1
    crashing = house.model(server, "crashing", crash_after=1, tokens=3)
    assert server.chat(crashing).status >= 400
    wait_until(lambda: value(server, "quince_model_crashes_total", model=crashing) == 2, what="two crashes")
    f = scrape(server)  # begun anew once, before the first byte
    assert f["quince_requests_replayed_total"].value(model=crashing) == 1
    assert f["quince_model_restarts_total"].value(model=crashing) == 1
    assert f["quince_model_crashes_total"].value(model=refused) == 0
    assert f["quince_model_load_failures_total"].value(model=crashing) == 0


def test_refusals(house):
    server = house.start()
    assert server.get("/live", headers={"Host": "evil.example"}).status == 403
    assert value(server, "quince_origin_refused_total") == 1
    assert value(server, "quince_http_requests_total") >= 2


def test_metrics_may_be_closed(house):
    key = {"QUINCE_API_KEY": "secret-of-the-test"}
    server = house.start("--metrics-auth", env=key)
    assert server.get("/metrics").status == 401
    assert server.get("/metrics", headers={"Authorization": "Bearer secret-of-the-test"}).status == 200
    assert house.start(env=key).get("/metrics").status == 200  # open as the documents have it
