"""Sounds and pictures over real sockets: forms, files larger than memory's share, replies in every form that
OpenAI's and Lemonade's documents name, and their documented errors."""
import base64
import io
import json
import os
import re
import struct
import time
import uuid

import pytest
from conftest import events, fake_model, wait_until

WAV = b"RIFF" + struct.pack("<I", 36) + b"WAVEfmt " + bytes(24)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
PREFIXES = ("/api/v1", "/api/v0", "/v1", "/v0")


def form(parts, boundary=None):
    """A body and its headers. parts: (name, text) or (name, bytes, file name)."""
    boundary = boundary or uuid.uuid4().hex
    out = io.BytesIO()
    for name, value, *filename in parts:
        disposition = f'form-data; name="{name}"' + "".join(f'; filename="{f}"' for f in filename)
        out.write(f"--{boundary}\r\nContent-Disposition: {disposition}\r\n".encode())
        if filename:
            out.write(b"Content-Type: application/octet-stream\r\n")
        out.write(b"\r\n" + (value if isinstance(value, bytes) else str(value).encode()) + b"\r\n")
    out.write(f"--{boundary}--\r\n".encode())
    return out.getvalue(), {"Content-Type": f"multipart/form-data; boundary={boundary}"}


def send(server, path, parts, prefix="/v1"):
    body, headers = form(parts)
    return server.post(prefix + path, body, headers=headers)


def error(reply, status, text):
    assert reply.status == status, reply.body
    assert text in reply.json["error"]["message"], reply.body
    return reply.json["error"]


@pytest.fixture
def heard(house, server):
    script = [{"ev": "progress", "done": 1, "total": 2},
              {"ev": "segment", "text": " Hello there.", "start": 0, "end": 1.5, "tokens": [1, 2], "avg_logprob": -0.25,
               "compression_ratio": 1.1, "no_speech_prob": 0.01,
               "words": [{"word": "Hello", "start": 0, "end": 0.5}, {"word": "there.", "start": 0.6, "end": 1.5}]},
              {"ev": "segment", "text": " A < B --> C. ", "start": 1.5, "end": 3661.25,
               "words": [{"word": "A", "start": 1.5, "end": 2}]},
              {"ev": "done", "reason": "stop", "language": "de"}]
    house.model(server, "heard", "whispercpp", script=script)
    return server


def transcribe(server, model="user.heard", path="/audio/transcriptions", **fields):
    return send(server, path, [("file", WAV, "a.wav"), ("model", model), *fields.items()])


TEXT = "Hello there. A < B --> C."


def test_a_transcription_in_every_form(heard):
    reply = transcribe(heard)
    assert reply.status == 200 and reply.headers["Content-Type"] == "application/json"
    assert reply.json == {"text": TEXT, "usage": {"type": "duration", "seconds": 4}}
    reply = transcribe(heard, response_format="text")
    assert reply.headers["Content-Type"].startswith("text/plain") and reply.body.decode() == TEXT + "\n"
    # SubRip has no mark-up: an arrow loses a dash. WebVTT has references.
    assert transcribe(heard, response_format="srt").body.decode() == (
        "1\n00:00:00,000 --> 00:00:01,500\nHello there.\n\n2\n00:00:01,500 --> 01:01:01,250\nA < B -> C.\n\n")
    assert transcribe(heard, response_format="vtt").body.decode() == (
        "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nHello there.\n\n"
        "00:00:01.500 --> 01:01:01.250\nA &lt; B --&gt; C.\n\n")
    reply = transcribe(heard, response_format="verbose_json").json
    segments = reply.pop("segments")
    assert reply == {"task": "transcribe", "language": "german", "duration": 4, "text": TEXT,
                     "usage": {"type": "duration", "seconds": 4}}
    assert segments == [
        {"id": 0, "seek": 0, "start": 0, "end": 1.5, "text": " Hello there.", "tokens": [1, 2], "temperature": 0,
         "avg_logprob": -0.25, "compression_ratio": 1.1, "no_speech_prob": 0.01},
        {"id": 1, "seek": 150, "start": 1.5, "end": 3661.25, "text": " A < B --> C. ", "tokens": [], "temperature": 0}]


def test_times_of_words(heard):
    for granularities, members in ((["word"], {"words"}), (["segment"], {"segments"}),
                                   (["word", "segment"], {"words", "segments"})):
        reply = send(heard, "/audio/transcriptions",
                     [("file", WAV, "a.wav"), ("model", "user.heard"), ("response_format", "verbose_json"),
                      *(("timestamp_granularities[]", g) for g in granularities)]).json
        assert {"words", "segments"} & set(reply) == members
        if "words" in members:
            assert reply["words"] == [{"word": "Hello", "start": 0, "end": 0.5},
                                      {"word": "there.", "start": 0.6, "end": 1.5},
                                      {"word": "A", "start": 1.5, "end": 2}]


def test_a_transcription_is_streamed(heard):
    body, headers = form([("file", WAV, "a.wav"), ("model", "user.heard"), ("stream", "true")])
    c = heard.connect()
    c.request("POST", "/v1/audio/transcriptions", body, headers)
    response = c.getresponse()
    assert response.headers["Content-Type"] == "text/event-stream"
    assert list(events(response)) == [
        {"type": "transcript.text.delta", "delta": "Hello there."},
        {"type": "transcript.text.delta", "delta": " A < B --> C."},
        {"type": "transcript.text.done", "text": TEXT, "usage": {"type": "duration", "seconds": 4}},
        "[DONE]"]
    c.close()


def test_a_translation_says_that_it_is_english(heard):
    reply = transcribe(heard, path="/audio/translations", response_format="verbose_json").json
    assert reply["task"] == "translate" and reply["language"] == "english"


def test_what_a_transcription_asks_of_the_model(house, server):
    model = house.model(server, "echo", "whispercpp", echo_job=True)
    job = json.loads(transcribe(server, model, language="German", prompt="Gestern", temperature="0.25",
                                response_format="verbose_json", **{"timestamp_granularities[]": "word"}).json["text"])
    assert job["task"] == "transcribe"
    assert job["transcribe"] == {"language": "de", "prompt": "Gestern", "words": True}
    assert job["sampling"] == {"temperature": 0.25}
    assert job["attachments"] == [{"role": "audio", "bytes": len(WAV)}] and job["bytes"] == len(WAV)
    job = json.loads(transcribe(server, model, path="/audio/translations", language="de-AT", **{"include[]": "logprobs"})
                     .json["text"])
    assert job["transcribe"] == {"language": "de", "translate": True}
    assert job["sampling"] == {"logprobs": 0}


@pytest.mark.parametrize("size", [1000, 3_000_000])
def test_files_cross_as_they_are(house, server, size):
    """Larger bodies lie in a temporary file (of 1 MiB and more), on both ways."""
    model = house.model(server, "mirror", "sd-cpp", echo_attachment=1)
    first, second = PNG + b"1", PNG + os.urandom(size) + b"\r\n--b\r\n--\r\n"
    reply = send(server, "/images/edits", [("model", model), ("prompt", "x"), ("image[]", first, "a.png"),
                                           ("image[]", second, "b.png"), ("mask", PNG, "m.png")])
    assert reply.status == 200
    assert base64.b64decode(reply.json["data"][0]["b64_json"]) == second


def test_a_body_over_the_limit(house):
    server = house.start("--body-limit", "1")
    model = house.model(server, "asr", "whispercpp")
    body, headers = form([("file", WAV + bytes(1100000), "a.wav"), ("model", model)])
    reply = server.post("/v1/audio/transcriptions", body, headers=headers)
    assert reply.status == 413 and "body-limit" in reply.json["error"]["message"]


AUDIO_ERRORS = [
    ([("model", "M")], "Missing 'file' field in request"),
    ([("file", WAV, "a.wav")], "Missing 'model' field in request"),
    ([("file", WAV, "a.wav"), ("model", "")], "Missing 'model' field in request"),
    ([("file", b"", "a.wav"), ("model", "M")], "file: it is empty"),
    ([("file", b"hello", "a.wav"), ("model", "M")], "file: unknown audio format"),
    ([("file", WAV, "a.wav"), ("file", WAV, "b.wav"), ("model", "M")], "file: expected one audio file"),
    ([("file", WAV, "a.wav"), ("model", "M"), ("model", "M")], "model: the form has this field twice"),
    ([("file", WAV, "a.wav"), ("model", "M"), ("response_format", "xml")], "response_format: 'xml' is not one of"),
    ([("file", WAV, "a.wav"), ("model", "M"), ("response_format", "diarized_json")], "response_format: "),
    ([("file", WAV, "a.wav"), ("model", "M"), ("temperature", "2")], "temperature: expected a number from 0 to 1"),
    ([("file", WAV, "a.wav"), ("model", "M"), ("temperature", "warm")], "temperature: "),
    ([("file", WAV, "a.wav"), ("model", "M"), ("language", "d3")], "language: 'd3' is not a language"),
    ([("file", WAV, "a.wav"), ("model", "M"), ("stream", "maybe")], "stream: expected true or false"),
    ([("file", WAV, "a.wav"), ("model", "M"), ("stream", "true"), ("response_format", "srt")],
     "stream: response_format srt cannot be streamed"),
    ([("file", WAV, "a.wav"), ("model", "M"), ("timestamp_granularities[]", "word")], "only with response_format verbose"),
    ([("file", WAV, "a.wav"), ("model", "M"), ("response_format", "verbose_json"),
      ("timestamp_granularities[]", "letter")], "timestamp_granularities[0]: 'letter' is not known"),
    ([("file", WAV, "a.wav"), ("model", "M"), ("include[]", "everything")], "include[0]: 'everything'"),
]


def test_errors_of_transcriptions(house, server):
    model = house.model(server, "asr", "whispercpp")
    for parts, text in AUDIO_ERRORS:
        parts = [(name, model if value == "M" else value, *more) for name, value, *more in parts]
        for path in ("/audio/transcriptions", "/audio/translations"):
            found = error(send(server, path, parts), 400, text)
            assert found["type"] == "invalid_request_error"
    found = error(transcribe(server, "nobody"), 404, "nobody")
    assert found["type"] == found["code"] == "model_not_found" and found["param"] == "model"
    chat = house.model(server, "chat")
    assert error(transcribe(server, chat), 400, "it is of type llm")["param"] == "model"


def test_errors_of_forms(server):
    for path in ("/audio/transcriptions", "/audio/translations", "/images/edits", "/images/variations"):
        for prefix in PREFIXES:
            error(server.post(prefix + path, {"model": "x"}), 400, "The request must be multipart/form-data")
        error(server.post("/v1" + path, b"", headers={"Content-Type": "multipart/form-data"}), 400, "boundary")
        error(server.post("/v1" + path, b"--b\r\nbroken", headers={"Content-Type": "multipart/form-data; boundary=b"}),
              400, "The request must be multipart/form-data: part 1 of the form")
        body, headers = form([("model", "x"), ("file", WAV, "a.wav")])
        error(server.post("/v1" + path, body[:-6], headers=headers), 400, "ends without its last boundary")
    for path in ("/audio/speech", "/images/generations", "/images/upscale"):
        body, headers = form([("model", "x")])
        assert server.post("/v1" + path, body, headers=headers).status == 415
        error(server.post("/v1" + path, "{"), 400, "not valid JSON")
        error(server.post("/v1" + path, ""), 400, "empty")


def test_every_prefix_and_method(house, server):
    house.model(server, "asr", "whispercpp", tokens=2)
    house.model(server, "tts", "kokoro", tokens=2)
    house.model(server, "image", "sd-cpp", tokens=2)
    for prefix in PREFIXES:
        assert send(server, "/audio/transcriptions", [("file", WAV, "a"), ("model", "user.asr")], prefix).json["text"] == \
            "word word"
        assert server.post(prefix + "/audio/speech", {"model": "user.tts", "input": "x"}).body == b"word word "
        assert server.post(prefix + "/images/generations", {"model": "user.image", "prompt": "x"}).json["data"]
        for path in ("audio/transcriptions", "audio/translations", "audio/speech", "images/generations", "images/edits",
                     "images/variations", "images/upscale"):
            reply = server.get(f"{prefix}/{path}")
            assert reply.status == 405 and reply.headers["Allow"] == "POST, OPTIONS"


def speak(server, model, **fields):
    return server.post("/v1/audio/speech", {"model": model, "input": "Lemonade can speak!", **fields})


def test_speech_in_every_format(house, server):
    model = house.model(server, "tts", "kokoro", tokens=3, word="\u266b")
    for name, kind in (("mp3", "audio/mpeg"), ("opus", "audio/opus"), ("aac", "audio/aac"), ("flac", "audio/flac"),
                       ("wav", "audio/wav"), ("pcm", "audio/l16;rate=24000;endianness=little-endian"), (None, "audio/mpeg")):
        reply = speak(server, model, **({"response_format": name} if name else {}))
        assert reply.status == 200 and reply.headers["Content-Type"] == kind
        assert reply.body == "\u266b\u266b\u266b".encode()
        assert int(reply.headers["Content-Length"]) == len(reply.body)
    for fields in ({"stream_format": "audio"}, {"stream": True}):
        reply = speak(server, model, **fields)
        assert reply.headers["Content-Type"] == "audio/l16;rate=24000;endianness=little-endian"
        assert reply.headers["Transfer-Encoding"] == "chunked" and reply.body == "\u266b\u266b\u266b".encode()


def test_speech_as_events(house, server):
    model = house.model(server, "tts", "kokoro", tokens=2)
    c = server.connect()
    c.request("POST", "/v1/audio/speech", json.dumps({"model": model, "input": "x", "stream_format": "sse"}),
              {"Content-Type": "application/json"})
    response = c.getresponse()
    assert response.headers["Content-Type"] == "text/event-stream"
    piece = {"type": "speech.audio.delta", "audio": base64.b64encode(b"word ").decode()}
    assert list(events(response)) == [
        piece, piece, {"type": "speech.audio.done", "usage": {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}},
        "[DONE]"]
    c.close()


def test_what_a_speech_asks_of_the_model(house, server):
    model = house.model(server, "tts", "kokoro", echo_job=True)
    assert json.loads(speak(server, model).body)["speak"] == {
        "input": "Lemonade can speak!", "voice": "shimmer", "format": "mp3"}
    job = json.loads(speak(server, model, voice={"id": "af_sky"}, speed=0.25, instructions="Whisper.", language="en",
                           response_format="wav", steps=4).body)
    assert job["speak"] == {"input": "Lemonade can speak!", "voice": "af_sky", "speed": 0.25,
                            "instructions": "Whisper.", "language": "en", "format": "wav"}


def test_errors_of_speech(house, server):
    model = house.model(server, "tts", "kokoro")
    for body, text in (
            ({"input": "x"}, "Missing 'model' field in request"),
            ({"model": model}, "Missing 'input' field in request"),
            ({"model": model, "input": ""}, "Missing 'input' field in request"),
            ({"model": model, "input": "\u00e9" * 4097}, "input: has 4097 characters, at most 4096"),
            ({"model": model, "input": ["x"]}, "input: "),
            ({"model": model, "input": "x", "voice": ""}, "voice: "),
            ({"model": model, "input": "x", "voice": 5}, "voice: "),
            ({"model": model, "input": "x", "speed": 0.2}, "speed: "),
            ({"model": model, "input": "x", "speed": 4.1}, "speed: "),
            ({"model": model, "input": "x", "speed": "fast"}, "speed: "),
            ({"model": model, "input": "x", "response_format": "midi"}, "response_format: 'midi' is not one of"),
            ({"model": model, "input": "x", "stream_format": "tape"}, "stream_format: 'tape' is not one of audio, sse"),
            ({"model": model, "input": "x", "instructions": 1}, "instructions: ")):
        assert error(server.post("/v1/audio/speech", body), 400, text)["type"] == "invalid_request_error"
    assert server.post("/v1/audio/speech", {"model": model, "input": "\u00e9" * 4096}).status == 200
    error(speak(server, "nobody"), 404, "nobody")
    assert error(speak(server, house.model(server, "mute", "kokoro", tokens=0)), 502, "sent no audio")
    wrong = house.model(server, "wrong", "kokoro", script=[
        {"ev": "audio", "format": "wav", "rate_hz": 24000, "bytes": 1, "raw": "RIFF"}, {"ev": "done", "reason": "stop"}])
    error(speak(server, wrong), 502, "sent wav instead of mp3")
    cannot = house.model(server, "cannot", "kokoro", script=[
        {"ev": "error", "error": {"code": "unsupported", "param": "response_format", "message": "no opus here"}}])
    error(speak(server, cannot, response_format="opus"), 400, "no opus here")


def test_a_speech_that_breaks_is_cut_off(house, server):
    """Half a sound must not look like a whole one; within events it is told."""
    go = house.tmp_path / "go"
    model = house.model(server, "broken", "kokoro", second_until=str(go), script=[
        {"ev": "audio", "format": "pcm", "rate_hz": 24000, "bytes": 1, "raw": "ab", "times": 1000},
        {"ev": "error", "error": {"code": "internal", "message": "it fell"}}])
    c = server.connect()
    c.request("POST", "/v1/audio/speech", json.dumps({"model": model, "input": "x", "stream_format": "audio"}),
              {"Content-Type": "application/json"})
    response = c.getresponse()
    assert response.status == 200
    go.touch()
    with pytest.raises(Exception):
        response.read()
    c.close()
    c = server.connect()
    c.request("POST", "/v1/audio/speech", json.dumps({"model": model, "input": "x", "stream_format": "sse",
                                                      "response_format": "pcm"}), {"Content-Type": "application/json"})
    *_, last = events(c.getresponse())
    assert last["error"]["message"] == "it fell"
    c.close()
    error(speak(server, model, response_format="pcm"), 500, "it fell")


def test_a_slow_listener_holds_the_model_back(house, server):
    model = house.model(server, "long", "kokoro", tokens=2000, word="x" * 60000)
    c = server.connect()
    c.request("POST", "/v1/audio/speech", json.dumps({"model": model, "input": "x", "stream": True}),
              {"Content-Type": "application/json"})
    response = c.getresponse()
    assert response.read(100) == b"x" * 100
    time.sleep(0.5)  # time enough for much more
    response.close()
    c.close()
    (said,) = wait_until(lambda: re.findall(r"fake cancelled id=\S+ said=(\d+)", server.logs()), what="the cancelling")
    assert 1 <= int(said) < 600  # of 2000, which are 120 MB


def test_pictures(house, server):
    model = house.model(server, "image", "sd-cpp", tokens=1, word="picture")
    b64 = base64.b64encode(b"picture").decode()
    reply = server.post("/v1/images/generations", {"model": model, "prompt": "A serene mountain landscape", "n": 3,
                                                   "size": "512x256"})
    assert reply.status == 200 and isinstance(reply.json["created"], int)
    assert reply.json["data"] == [{"b64_json": b64}] * 3
    assert reply.json["size"] == "512x256" and reply.json["output_format"] == "png"
    reply = server.post("/v1/images/generations", {"model": model, "prompt": "x", "response_format": "url",
                                                   "output_format": "jpeg"})
    assert reply.json["data"] == [{"url": f"data:image/jpeg;base64,{b64}"}]
    reply = send(server, "/images/variations", [("model", model), ("image", PNG, "a.png"), ("n", "2"), ("prompt", "x")])
    assert reply.json["data"] == [{"b64_json": b64}] * 2
    reply = server.post("/v1/images/upscale", {"model": model, "image": base64.b64encode(PNG).decode()})
    assert reply.json["data"] == [{"b64_json": b64}]


def test_pictures_are_streamed(house, server):
    model = house.model(server, "image", "sd-cpp", tokens=1, word="picture")
    b64 = base64.b64encode(b"picture").decode()
    c = server.connect()
    c.request("POST", "/v1/images/generations", json.dumps({"model": model, "prompt": "x", "stream": True, "n": 2,
                                                            "partial_images": 2}), {"Content-Type": "application/json"})
    response = c.getresponse()
    text = response.read().decode()
    assert text.count("event: image_generation.completed\n") == 2
    found = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
    assert [f["b64_json"] for f in found] == [b64, b64]
    assert found[0]["type"] == "image_generation.completed" and found[0]["output_format"] == "png"
    c.close()
    body, headers = form([("model", model), ("prompt", "x"), ("image", PNG, "a.png"), ("stream", "true")])
    assert b"event: image_edit.completed\n" in server.post("/v1/images/edits", body, headers=headers).body


def test_what_pictures_ask_of_the_model(house, server):
    model = house.model(server, "echo", "sd-cpp", echo_job=True)

    def job(reply):
        return json.loads(base64.b64decode(reply.json["data"][0]["b64_json"]))

    found = job(server.post("/v1/images/generations", {
        "model": model, "prompt": "A barn", "negative_prompt": "rain", "width": 512, "height": 256, "steps": 4,
        "cfg_scale": 1.5, "seed": 42, "sample_method": "euler_a", "flow_shift": 3, "n": 1, "quality": "hd",
        "style": "vivid", "user": "me", "background": "opaque", "moderation": "low", "output_compression": 50,
        "output_format": "webp"}))
    assert found["image"] == {"kind": "generate", "prompt": "A barn", "negative_prompt": "rain", "width": 512,
                              "height": 256, "steps": 4, "cfg_scale": 1.5, "flow_shift": 3,
                              "sample_method": "euler_a", "format": "webp"}
    assert found["sampling"] == {"seed": 42, "n": 1} and "attachments" not in found
    found = job(server.post("/v1/images/generations", {"model": model, "prompt": "x", "size": "auto", "seed": -1}))
    assert found["image"] == {"kind": "generate", "prompt": "x", "format": "png"} and found["sampling"] == {"n": 1}
    found = job(send(server, "/images/edits", [
        ("model", model), ("prompt", "Add a barn"), ("image", PNG, "a.png"), ("mask", PNG + b"m", "m.png"),
        ("size", "512x512"), ("n", "1"), ("steps", "4"), ("cfg_scale", "1"), ("seed", "7"), ("strength", "0.5"),
        ("response_format", "b64_json"), ("user", "u"), ("background", "auto"), ("quality", "high"),
        ("input_fidelity", "low"), ("output_compression", "50")]))
    assert found["image"] == {"kind": "edit", "prompt": "Add a barn", "width": 512, "height": 512, "steps": 4,
                              "cfg_scale": 1, "strength": 0.5, "format": "png"}
    assert found["attachments"] == [{"role": "image", "bytes": len(PNG)}, {"role": "mask", "bytes": len(PNG) + 1}]
    assert found["sampling"] == {"seed": 7, "n": 1}
    found = job(send(server, "/images/variations", [("model", model), ("image", PNG, "a.png")]))
    assert found["image"] == {"kind": "variation", "format": "png"} and found["attachments"] == [{"role": "image", "bytes": len(PNG)}]
    found = job(server.post("/v1/images/upscale", {
        "model": model, "image": "data:image/png;base64," + base64.b64encode(PNG).decode()}))
    assert found["image"] == {"kind": "upscale", "format": "png"} and found["attachments"] == [{"role": "image", "bytes": len(PNG)}]


def test_errors_of_pictures(house, server):
    model = house.model(server, "image", "sd-cpp")
    number = "Invalid value for 'n': must be between 1 and 10"
    good = {"model": model, "prompt": "x"}
    for body, text in (
            ({"prompt": "x"}, "Missing 'model' field in request"),
            ({"model": model}, "Missing 'prompt' field in request"),
            ({**good, "prompt": ""}, "Missing 'prompt' field in request"),
            ({**good, "prompt": "x" * 32001}, "prompt: has 32001 characters"),
            ({**good, "n": 0}, number), ({**good, "n": 11}, number), ({**good, "n": "many"}, number),
            ({**good, "size": "big"}, "size: 'big' is not a size"),
            ({**good, "size": "512"}, "size: '512' is not a size"),
            ({**good, "size": "512x"}, "size: '512x' is not a size"),
            ({**good, "size": "15x512"}, "size: each side has 16 to 4096 pixels"),
            ({**good, "size": "512x99999"}, "size: each side has 16 to 4096 pixels"),
            ({**good, "width": 512}, "give both width and height, or size"),
            ({**good, "height": 512}, "give both width and height, or size"),
            ({**good, "width": 5, "height": 5}, "width: "),
            ({**good, "steps": 0}, "steps: "), ({**good, "steps": 1.5}, "steps: "),
            ({**good, "cfg_scale": -1}, "cfg_scale: "), ({**good, "seed": "x"}, "seed: "),
            ({**good, "sample_method": 1}, "sample_method: "), ({**good, "flow_shift": True}, "flow_shift: "),
            ({**good, "response_format": "gif"}, "response_format: 'gif' is not one of b64_json, url"),
            ({**good, "output_format": "gif"}, "output_format: 'gif' is not one of png, jpeg, webp"),
            ({**good, "partial_images": 4}, "partial_images: "), ({**good, "stream": 1}, "stream: ")):
        assert error(server.post("/v1/images/generations", body), 400, text)["type"] == "invalid_request_error"
    edit = [("model", model), ("prompt", "x"), ("image", PNG, "a.png")]
    for path, parts, text in (
            ("edits", edit[:2], "Missing 'image' field in request"),
            ("edits", [edit[0], edit[2]], "Missing 'prompt' field in request"),
            ("edits", edit[1:], "Missing 'model' field in request"),
            ("edits", [*edit, ("n", "11")], number), ("edits", [*edit, ("n", "0")], number),
            ("edits", [*edit, ("n", "two")], number),
            ("edits", [*edit, ("mask", b"no", "m.png")], "mask: this is not a PNG, JPEG or WebP image"),
            ("edits", [*edit, ("mask", PNG, "m.png"), ("mask", PNG, "m.png")], "mask: at most 1"),
            ("edits", [*edit[:2], *[("image[]", PNG, "a.png")] * 17], "image: at most 16"),
            ("edits", [*edit[:2], ("image", b"", "a.png")], "image: it is empty"),
            ("edits", [*edit[:2], ("image", b"GIF89a\0", "a.gif")], "image: this is not a PNG, JPEG or WebP"),
            ("variations", edit[:1], "Missing 'image' field in request"),
            ("variations", [edit[2]], "Missing 'model' field in request"),
            ("variations", [edit[0], edit[2], ("n", "11")], number),
            ("variations", [edit[0], edit[2], edit[2]], "image: at most 1")):
        found = error(send(server, "/images/" + path, parts), 400, text)
        assert found["type"] == "invalid_request_error"
    error(server.post("/v1/images/generations", {**good, "model": "nobody"}), 404, "nobody")
    chat = house.model(server, "chat")
    error(server.post("/v1/images/generations", {**good, "model": chat}), 400, "it is of type llm")
    some = house.model(server, "some", "sd-cpp", script=[{"ev": "done", "reason": "stop"}])
    error(server.post("/v1/images/generations", {**good, "model": some}), 502, "sent too few images")


# Lemonade's document, images/upscale: the texts are part of the contract.
def test_documented_errors_of_upscaling(house, server):
    broken = house.model(server, "broken", "sd-cpp", script=[{"ev": "error", "error": {"code": "internal", "message": "m"}}])
    image = base64.b64encode(PNG).decode()
    for body, status, message, kind in (
            ({"model": "x"}, 400, "Missing 'image' field (base64 encoded)", "invalid_request_error"),
            ({"image": image}, 400, "Missing 'model' field", "invalid_request_error"),
            ({"image": image, "model": "bad-model"}, 404, "Upscale model not found: bad-model", "invalid_request_error"),
            ({"image": image, "model": broken}, 500, "ESRGAN upscale failed", "server_error"),
            ({"image": "%%%", "model": broken}, 400, "image: this is not base64", "invalid_request_error"),
            ({"image": "aGVsbG8=", "model": broken}, 400, "image: this is not a PNG, JPEG or WebP image",
             "invalid_request_error"),
            ({"image": 5, "model": broken}, 400, "image: expected a string, not a number", "invalid_request_error"),
            ({"image": image, "model": 5}, 400, "model: expected a string, not a number", "invalid_request_error")):
        reply = server.post("/v1/images/upscale", body)
        assert reply.status == status, reply.body
        assert reply.json["error"]["message"] == message and reply.json["error"]["type"] == kind


def test_models_without_their_program_do_not_come_in(house, tmp_path, fake_backend_dir):
    """What is not installed is not promised."""
    only = tmp_path / "only-llm"
    only.mkdir()
    (only / "quince-llm").write_bytes((fake_backend_dir / "quince-llm").read_bytes())
    (only / "quince-llm").chmod(0o755)
    house.backend_dir = only
    server = house.start()
    for recipe in ("whispercpp", "kokoro", "sd-cpp"):
        reply = server.post("/v1/models/register", {"model_name": "user.x", "checkpoint": str(fake_model(tmp_path)),
                                                    "recipe": recipe})
        assert reply.status == 400 and "is not supported" in reply.json["error"]["message"]
        reply = server.post("/v1/pull", {"model_name": "user.x", "checkpoint": "owner/repo:file.bin", "recipe": recipe})
        assert reply.status == 400 and "no engine for it" in reply.json["error"]["message"]
