-- The catalog's tables, version by version. Each block between "-- version N" lines is run once, in
-- one transaction, on a database of version N - 1. Blocks that have shipped are never edited.

-- version 1
CREATE TABLE model (
    name       TEXT PRIMARY KEY NOT NULL,
    type       TEXT NOT NULL,
    recipe     TEXT NOT NULL,
    checkpoint TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    labels     TEXT NOT NULL,
    details    TEXT NOT NULL,
    options    TEXT NOT NULL DEFAULT '{}',
    builtin    INTEGER NOT NULL,
    suggested  INTEGER NOT NULL,
    created_s  INTEGER NOT NULL,
    last_use_s INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE file (
    model    TEXT NOT NULL REFERENCES model(name) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    path     TEXT NOT NULL,
    PRIMARY KEY (model, position)
) STRICT;

-- version 2
-- base, preset: a model made from another one, with its own system message, parameters and so on.
-- facts: the file's metadata. digest: SHA-256 of the files; digest_of: their sizes and times when it was computed.
ALTER TABLE model ADD COLUMN base TEXT NOT NULL DEFAULT '';
ALTER TABLE model ADD COLUMN preset TEXT NOT NULL DEFAULT '{}';
ALTER TABLE model ADD COLUMN facts TEXT NOT NULL DEFAULT '{}';
ALTER TABLE model ADD COLUMN digest TEXT NOT NULL DEFAULT '';
ALTER TABLE model ADD COLUMN digest_of TEXT NOT NULL DEFAULT '';
ALTER TABLE model ADD COLUMN modified_s INTEGER NOT NULL DEFAULT 0;

-- version 3
-- Responses of the Responses API that a later request may continue. previous: the response that this one continued, or ''.
-- input, body: JSON. used: a counter of all uses at the last use of this response; the lowest are removed first.
CREATE TABLE answer (
    id       TEXT PRIMARY KEY NOT NULL,
    previous TEXT NOT NULL,
    input    TEXT NOT NULL,
    body     TEXT NOT NULL,
    bytes    INTEGER NOT NULL,
    used     INTEGER NOT NULL
) STRICT;
CREATE INDEX answer_used ON answer(used);

-- version 4
-- checkpoints: a JSON object, role ("main", "mmproj", ...) to checkpoint. hub: "huggingface", "modelscope", "ollama",
-- "url" or "" (a file of this machine); revision, commit_id: the requested revision and its commit.
-- keeper: the owner of the files: "quince" (it fetched and may delete them), "user", or the program whose folder they are in.
-- extras: a JSON object that the model lists show unchanged (image_defaults, components).
-- alias: further names. forgotten: files of other programs that the user removed from the list; they are not listed again.
ALTER TABLE model ADD COLUMN checkpoints TEXT NOT NULL DEFAULT '{}';
ALTER TABLE model ADD COLUMN hub TEXT NOT NULL DEFAULT '';
ALTER TABLE model ADD COLUMN revision TEXT NOT NULL DEFAULT '';
ALTER TABLE model ADD COLUMN commit_id TEXT NOT NULL DEFAULT '';
ALTER TABLE model ADD COLUMN keeper TEXT NOT NULL DEFAULT 'user';
ALTER TABLE model ADD COLUMN extras TEXT NOT NULL DEFAULT '{}';
ALTER TABLE file ADD COLUMN role TEXT NOT NULL DEFAULT 'main';
ALTER TABLE file ADD COLUMN size_bytes INTEGER NOT NULL DEFAULT -1;
CREATE TABLE alias (
    name  TEXT PRIMARY KEY NOT NULL,
    model TEXT NOT NULL
) STRICT;
CREATE TABLE forgotten (
    path TEXT PRIMARY KEY NOT NULL
) STRICT;

-- version 5
-- Downloads, and the files of each. wish: JSON, the request. state: downloading, paused, completed, cancelled or
-- error. The bytes present of a file are recorded beside its partial file, not here.
CREATE TABLE download (
    id         TEXT PRIMARY KEY NOT NULL,
    model      TEXT NOT NULL,
    wish       TEXT NOT NULL,
    state      TEXT NOT NULL,
    error      TEXT NOT NULL,
    error_name TEXT NOT NULL,
    priority   INTEGER NOT NULL,
    created_s  INTEGER NOT NULL,
    changed_s  INTEGER NOT NULL
) STRICT;
CREATE TABLE download_file (
    download    TEXT NOT NULL REFERENCES download(id) ON DELETE CASCADE,
    position    INTEGER NOT NULL,
    hub         TEXT NOT NULL,
    repo        TEXT NOT NULL,
    revision    TEXT NOT NULL,
    commit_id   TEXT NOT NULL,
    path        TEXT NOT NULL,
    role        TEXT NOT NULL,
    url         TEXT NOT NULL,
    partial     TEXT NOT NULL,
    etag        TEXT NOT NULL,
    sha256      TEXT NOT NULL,
    git_sha1    TEXT NOT NULL,
    size_bytes  INTEGER NOT NULL,
    done        INTEGER NOT NULL,
    PRIMARY KEY (download, position)
) STRICT;

-- version 6
-- The columns that change with every use of a response are in a table of their own, since its text may be megabytes.
-- bytes: of input and body.
CREATE TABLE answer_use (
    id    TEXT PRIMARY KEY NOT NULL REFERENCES answer(id) ON DELETE CASCADE,
    bytes INTEGER NOT NULL,
    used  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO answer_use SELECT id, bytes, used FROM answer;
CREATE INDEX answer_use_used ON answer_use(used);
DROP INDEX answer_used;
ALTER TABLE answer DROP COLUMN bytes;
ALTER TABLE answer DROP COLUMN used;

-- version 7
-- API keys. Only the SHA-256 of the secret is stored. admin: 1 for keys that may administer the server.
CREATE TABLE api_key (
    name      TEXT PRIMARY KEY NOT NULL,
    sha256    BLOB NOT NULL UNIQUE,
    admin     INTEGER NOT NULL,
    created_s INTEGER NOT NULL
) STRICT;

-- version 8
-- owner: the owner of the response, in the form of router/access/owner.h; '' for responses stored by versions without owners.
ALTER TABLE answer_use ADD COLUMN owner TEXT NOT NULL DEFAULT '';

-- version 9
-- capabilities: a JSON array, copied from the facts, which may be a megabyte.
ALTER TABLE model ADD COLUMN capabilities TEXT NOT NULL DEFAULT '[]';
UPDATE model SET capabilities = coalesce(json_extract(facts, '$.capabilities'), '[]') WHERE json_valid(facts);
