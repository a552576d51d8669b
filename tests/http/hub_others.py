"""ModelScope's and Ollama's shapes for the tests' hub: Ollama's registry as its manifests and blobs are
described, ModelScope's file lists and search.

    ms = ModelScope(hub); ms.repo("Qwen/Qwen3-GGUF", {"a.gguf": b"..."})
    ollama = OllamaRegistry(hub); ollama.model("library/qwen3", "0.6b", model=b"...", template=b"...")

Both speak on the hub's first port; files of ModelScope are redirected to the second one."""
import functools
import hashlib
import json
import urllib.parse


@functools.lru_cache(maxsize=64)
def sha256(data):
    return hashlib.sha256(data).hexdigest()


class ModelScope:
    def __init__(self, hub):
        self.hub, self.repos = hub, {}
        hub.routes.append(self.answer)

    def repo(self, name, files, revision="master"):
        self.repos[name] = (revision, files)

    def answer(self, h, url):
        path, query = urllib.parse.unquote(url.path), urllib.parse.parse_qs(url.query)
        if path.startswith("/ms-file/"):
            name, _, file = path[len("/ms-file/"):].partition("//")
            data = self.repos[name][1][file]
            h.reply_file(data, f'"{sha256(data)}"', self.hub.fault_for(h.server.host, [file]))
            return True
        if path == "/openapi/v1/models":
            words = query["search"][0].lower().split()
            found = [{"id": name, "display_name": name.split("/")[1], "downloads": 5, "likes": 1,
                      "last_modified": "2025-05-01T00:00:00Z"}
                     for name in self.repos if all(w in name.lower() for w in words)]
            h.reply_json({"success": True, "data": {"models": found, "total_count": len(found)}})
            return True
        if not path.startswith("/api/v1/models/"):
            return False
        parts = path[len("/api/v1/models/"):].split("/")
        name, what = "/".join(parts[:2]), "/".join(parts[2:])
        if name not in self.repos:
            h.reply_json({"Code": 10010205001, "Success": False, "Message": "record not found", "Data": None}, 404)
            return True
        revision, files = self.repos[name]
        if query.get("Revision", ["master"])[0] != revision:
            h.reply_json({"Code": 10010205002, "Success": False, "Message": "revision not found"}, 404)
        elif what == "repo/files":
            listed = [{"Name": p.split("/")[-1], "Path": p, "Type": "blob", "Size": len(d), "Sha256": sha256(d),
                       "Revision": "0" * 40, "IsLFS": True} for p, d in files.items()]
            folders = sorted({p.split("/")[0] for p in files if "/" in p})
            listed += [{"Name": f, "Path": f, "Type": "tree", "Size": 0, "Sha256": ""} for f in folders]
            h.reply_json({"Code": 200, "Success": True, "Message": "success", "Data": {"Files": listed}})
        elif what == "repo":
            file = query["FilePath"][0]
            if file not in files:
                h.reply_error(404, "no such file")
            else:
                where = f"{self.hub.files_url}/ms-file/{name}//{urllib.parse.quote(file)}"
                h.reply(302, b"", {"Location": where})
        else:
            h.reply_error(404, "Not Found")
        return True


KINDS = {"model": "model", "projector": "projector", "template": "template", "params": "params",
         "license": "license", "system": "system"}


class OllamaRegistry:
    def __init__(self, hub):
        self.hub, self.manifests, self.blobs = hub, {}, {}
        hub.routes.append(self.answer)

    def model(self, name, tag, **layers):
        """layers: model=b"...", template=b"...", license=b"..."; returns the manifest's digest."""
        listed = []
        for kind, data in layers.items():
            self.blobs[sha256(data)] = data
            listed.append({"mediaType": f"application/vnd.ollama.image.{KINDS[kind]}", "digest": f"sha256:{sha256(data)}",
                           "size": len(data)})
        config = json.dumps({"model_format": "gguf", "model_family": "llama"}).encode()
        self.blobs[sha256(config)] = config
        body = json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
                           "config": {"mediaType": "application/vnd.docker.container.image.v1+json",
                                      "digest": f"sha256:{sha256(config)}", "size": len(config)},
                           "layers": listed}).encode()
        self.manifests[(name, tag)] = body
        return sha256(body)

    def answer(self, h, url):
        path = urllib.parse.unquote(url.path)
        if not path.startswith("/v2/"):
            return False
        if "/manifests/" in path:
            body = self.manifests.get(tuple(path[4:].split("/manifests/")))
            if body is None:
                h.reply_json({"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]}, 404)
            else:
                h.reply(200, body, {"Content-Type": "application/vnd.docker.distribution.manifest.v2+json"})
            return True
        digest = path.rpartition("/blobs/sha256:")[2]
        if digest not in self.blobs:
            h.reply_json({"errors": [{"code": "BLOB_UNKNOWN"}]}, 404)
        else:
            h.reply_file(self.blobs[digest], f'"{digest}"', self.hub.fault_for(h.server.host, [path]))
        return True
