-- The tables of chats.db, version by version. Each block between "-- version N" lines is run once, in one transaction,
-- on a database of version N - 1. Blocks that have shipped are never edited. Times are Unix milliseconds.

-- version 1
-- name: in the form of router/access/owner.h. chats, bytes: of all the owner's chats, bytes of all their messages.
CREATE TABLE owner (
    n     INTEGER PRIMARY KEY,
    name  TEXT NOT NULL UNIQUE,
    chats INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0
) STRICT;

-- head: the message that was shown last. messages: without deleted ones; rows, bytes: with them. deleted: when, 0: not.
-- hidden: '' for a chat that exists; '-' for one that is being erased; else the import that has not ended.
-- origin: the chat that this one was imported from, '' for none.
CREATE TABLE chat (
    n        INTEGER PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    owner    INTEGER NOT NULL REFERENCES owner(n),
    title    TEXT NOT NULL,
    folder   TEXT NOT NULL,
    pinned   INTEGER NOT NULL,
    created  INTEGER NOT NULL,
    updated  INTEGER NOT NULL,
    model    TEXT NOT NULL,
    head     INTEGER,
    messages INTEGER NOT NULL DEFAULT 0,
    rows     INTEGER NOT NULL DEFAULT 0,
    bytes    INTEGER NOT NULL DEFAULT 0,
    deleted  INTEGER NOT NULL DEFAULT 0,
    hidden   TEXT NOT NULL DEFAULT '',
    origin   TEXT NOT NULL DEFAULT '',
    params   TEXT NOT NULL,
    system   TEXT NOT NULL
) STRICT;
CREATE INDEX chat_shown ON chat(owner, pinned, updated, id) WHERE deleted = 0 AND hidden = '';
CREATE INDEX chat_folder ON chat(owner, folder, pinned, updated, id) WHERE deleted = 0 AND hidden = '';
CREATE INDEX chat_owned ON chat(owner) WHERE deleted = 0 AND hidden = '';
CREATE INDEX chat_deleted ON chat(owner, deleted, id) WHERE deleted > 0;
CREATE INDEX chat_hidden ON chat(hidden) WHERE hidden <> '';
CREATE INDEX chat_origin ON chat(owner, origin) WHERE origin <> '';

-- parent: NULL for a first message; it has a smaller n than its children. role, state: numbers of chats.h.
-- deleted: when, the same for all messages that were deleted together; 0: not. The long columns come last.
CREATE TABLE message (
    n         INTEGER PRIMARY KEY,
    id        TEXT NOT NULL UNIQUE,
    chat      INTEGER NOT NULL REFERENCES chat(n) ON DELETE CASCADE,
    owner     INTEGER NOT NULL REFERENCES owner(n),
    parent    INTEGER,
    role      INTEGER NOT NULL,
    state     INTEGER NOT NULL,
    created   INTEGER NOT NULL,
    deleted   INTEGER NOT NULL DEFAULT 0,
    bytes     INTEGER NOT NULL,
    finish    TEXT NOT NULL,
    model     TEXT NOT NULL,
    parts     TEXT NOT NULL,
    calls     TEXT NOT NULL,
    params    TEXT NOT NULL,
    stats     TEXT NOT NULL,
    error     TEXT,
    reasoning TEXT NOT NULL,
    text      TEXT NOT NULL
) STRICT;
CREATE INDEX message_chat ON message(chat);
CREATE INDEX message_parent ON message(parent);
CREATE INDEX message_deleted ON message(deleted) WHERE deleted > 0;
CREATE INDEX message_unfinished ON message(chat) WHERE state IN (1, 2);

-- The part of an unfinished message that is not in its row yet, so that appending does not rewrite the row.
-- text_bytes, reasoning_bytes: of the row and all pieces. pieces: their number.
CREATE TABLE answer (
    message         INTEGER PRIMARY KEY REFERENCES message(n) ON DELETE CASCADE,
    text_bytes      INTEGER NOT NULL,
    reasoning_bytes INTEGER NOT NULL,
    pieces          INTEGER NOT NULL
) STRICT;
CREATE TABLE piece (
    message   INTEGER NOT NULL REFERENCES message(n) ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    reasoning INTEGER NOT NULL,
    text      TEXT NOT NULL,
    PRIMARY KEY (message, position)
) STRICT, WITHOUT ROWID;

-- Files. used: when an owner sent it last.
CREATE TABLE blob (
    n      INTEGER PRIMARY KEY,
    owner  INTEGER NOT NULL REFERENCES owner(n),
    sha256 TEXT NOT NULL,
    type   TEXT NOT NULL,
    bytes  INTEGER NOT NULL,
    used   INTEGER NOT NULL,
    UNIQUE (owner, sha256)
) STRICT;
CREATE INDEX blob_sha256 ON blob(sha256);
CREATE TABLE message_blob (
    message INTEGER NOT NULL REFERENCES message(n) ON DELETE CASCADE,
    blob    INTEGER NOT NULL REFERENCES blob(n),
    PRIMARY KEY (message, blob)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_blob_blob ON message_blob(blob);

-- Words of titles and texts. The column owner makes each owner's search read its own entries alone.
CREATE VIRTUAL TABLE chat_words USING fts5(owner, title, content = 'chat', content_rowid = 'n', columnsize = 0,
    prefix = '2 3', tokenize = 'unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE message_words USING fts5(owner, text, content = 'message', content_rowid = 'n', columnsize = 0,
    prefix = '2 3', tokenize = 'unicode61 remove_diacritics 2');

CREATE TRIGGER chat_added AFTER INSERT ON chat BEGIN
    INSERT INTO chat_words(rowid, owner, title) VALUES (new.n, new.owner, new.title);
    UPDATE owner SET chats = chats + 1 WHERE n = new.owner;
END;
CREATE TRIGGER chat_removed AFTER DELETE ON chat BEGIN
    INSERT INTO chat_words(chat_words, rowid, owner, title) VALUES ('delete', old.n, old.owner, old.title);
    UPDATE owner SET chats = chats - 1 WHERE n = old.owner;
END;
CREATE TRIGGER chat_renamed AFTER UPDATE OF title ON chat BEGIN
    INSERT INTO chat_words(chat_words, rowid, owner, title) VALUES ('delete', old.n, old.owner, old.title);
    INSERT INTO chat_words(rowid, owner, title) VALUES (new.n, new.owner, new.title);
END;
CREATE TRIGGER message_added AFTER INSERT ON message BEGIN
    INSERT INTO message_words(rowid, owner, text) VALUES (new.n, new.owner, new.text);
    UPDATE chat SET messages = messages + (new.deleted = 0), rows = rows + 1, bytes = bytes + new.bytes
        WHERE n = new.chat;
    UPDATE owner SET bytes = bytes + new.bytes WHERE n = new.owner;
END;
CREATE TRIGGER message_removed AFTER DELETE ON message BEGIN
    INSERT INTO message_words(message_words, rowid, owner, text) VALUES ('delete', old.n, old.owner, old.text);
    UPDATE chat SET messages = messages - (old.deleted = 0), rows = rows - 1, bytes = bytes - old.bytes
        WHERE n = old.chat;
    UPDATE owner SET bytes = bytes - old.bytes WHERE n = old.owner;
END;
CREATE TRIGGER message_rewritten AFTER UPDATE OF text ON message BEGIN
    INSERT INTO message_words(message_words, rowid, owner, text) VALUES ('delete', old.n, old.owner, old.text);
    INSERT INTO message_words(rowid, owner, text) VALUES (new.n, new.owner, new.text);
END;
CREATE TRIGGER message_resized AFTER UPDATE OF bytes, deleted ON message BEGIN
    UPDATE chat SET messages = messages + (new.deleted = 0) - (old.deleted = 0), bytes = bytes + new.bytes - old.bytes
        WHERE n = new.chat;
    UPDATE owner SET bytes = bytes + new.bytes - old.bytes WHERE n = new.owner;
END;

-- version 2
-- System messages and parameters that an owner has given a name. updated: when it was stored last.
CREATE TABLE preset (
    n       INTEGER PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    owner   INTEGER NOT NULL REFERENCES owner(n),
    name    TEXT NOT NULL,
    updated INTEGER NOT NULL,
    params  TEXT NOT NULL,
    system  TEXT NOT NULL,
    UNIQUE (owner, name)
) STRICT;

-- version 3
-- MCP servers (mcp_servers.h). config, secrets, permissions: JSON objects; secrets are never shown. revision: grows when
-- config or secrets change.
CREATE TABLE mcp_server (
    n           INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    owner       INTEGER NOT NULL REFERENCES owner(n),
    name        TEXT NOT NULL,
    stdio       INTEGER NOT NULL,
    enabled     INTEGER NOT NULL,
    created     INTEGER NOT NULL,
    updated     INTEGER NOT NULL,
    revision    INTEGER NOT NULL,
    config      TEXT NOT NULL,
    secrets     TEXT NOT NULL,
    permissions TEXT NOT NULL,
    UNIQUE (owner, name)
) STRICT;
