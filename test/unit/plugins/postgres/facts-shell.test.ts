import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { kitShell } from "../../../support/shell.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-facts."));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What pg_restore 15 prints with --create of the entries for a database. */
const script = (name: string) => `--
-- PostgreSQL database dump
--

\\restrict cc083HfxqnGNeigkrS3iKjE1jsr8vZdjcwyggKyYGraJLauo7RfOyVBxQsDi6JS

SET client_encoding = 'UTF8';
CREATE DATABASE ${name} WITH TEMPLATE = template0 ENCODING = 'UTF8' LOCALE_PROVIDER = libc LOCALE = 'C.UTF-8';


ALTER DATABASE ${name} OWNER TO app;

\\unrestrict cc083HfxqnGNeigkrS3iKjE1jsr8vZdjcwyggKyYGraJLauo7RfOyVBxQsDi6JS
\\connect ${name}
COMMENT ON DATABASE ${name} IS 'it''s
DATABASE ${name} :name';
ALTER DATABASE ${name} CONNECTION LIMIT = 7;
ALTER DATABASE ${name} SET search_path TO 's', 'public';
ALTER ROLE app IN DATABASE ${name} SET work_mem TO '8MB';
REVOKE CONNECT,TEMPORARY ON DATABASE ${name} FROM PUBLIC;
GRANT CONNECT ON DATABASE ${name} TO ro;
`;

const run = (lines: string, name = "app") => {
  writeFileSync(join(folder, "script"), script(name));
  const program = `pg_restore() { case "$*" in *--list*) echo ';' ;; *) cat "$script" ;; esac; }`;
  return kitShell(["pod.sh", "../postgres/facts.sh"], `script=$1/script; folder=$1\n${program}\n${lines}`, folder);
};

test.each(["app", '"My ""D B"', "app$1"])(
  "the statements of %s are for a database with any other name",
  async (name) => {
    const { exitCode, stdout } = await run("database_sql x.dump", name);
    expect(exitCode).toBe(0);
    expect(stdout).not.toMatch(/^\\/m);
    expect(stdout.split("\n").filter((line) => line.includes(':"name"'))).toEqual([
      `CREATE DATABASE :"name" WITH TEMPLATE = template0 ENCODING = 'UTF8' LOCALE_PROVIDER = libc LOCALE = 'C.UTF-8';`,
      'ALTER DATABASE :"name" OWNER TO app;',
      `COMMENT ON DATABASE :"name" IS 'it''s`,
      'ALTER DATABASE :"name" CONNECTION LIMIT = 7;',
      `ALTER DATABASE :"name" SET search_path TO 's', 'public';`,
      `ALTER ROLE app IN DATABASE :"name" SET work_mem TO '8MB';`,
      'REVOKE CONNECT,TEMPORARY ON DATABASE :"name" FROM PUBLIC;',
      'GRANT CONNECT ON DATABASE :"name" TO ro;',
    ]);
    // The text of a comment stays as it is.
    expect(stdout).toContain(`\nDATABASE ${name} :name';\n`);
  },
);

test("of a dump from elsewhere only what names no role is set", async () => {
  const { stdout } = await run('psql() { cat >"$folder/got"; }; set_like x.dump new imported; cat "$folder/got"');
  expect(stdout.trimEnd().split("\n")).toEqual([
    'ALTER DATABASE :"name" CONNECTION LIMIT = 7;',
    `ALTER DATABASE :"name" SET search_path TO 's', 'public';`,
  ]);
});

test("a dump that says nothing of its database, or a locale that is not there, gets a database all the same", async () => {
  const made = 'psql() { cat >"$folder/got"; ! grep -q LOCALE "$folder/got"; }\n';
  for (const dump of ["", ": >$script\n"]) {
    const { exitCode, stdout, stderr } = await run(`${made}${dump}create_like x.dump new; cat "$folder/got"`);
    expect([exitCode, stdout.trim()]).toEqual([0, 'create database :"name" template template0;']);
    expect(stderr).toBe("mq: the database gets the encoding and the locale of the server\n");
  }
});

test.each([
  ["", "", ""],
  ["a 1\nb 2\n", "b 2\na 1\n", ""],
  ["a 1\n", "", "missing: a 1\n"],
  ["", "a 1\n", "added: a 1\n"],
  ["a 1\nb 2\n", "a 1\nb 3\n", "missing: b 2\nadded: b 3\n"],
])("the difference of %j and %j", async (was, is, difference) => {
  writeFileSync(join(folder, "was"), was);
  writeFileSync(join(folder, "is"), is);
  expect((await run('difference "$folder/was" "$folder/is"')).stdout).toBe(difference);
});
