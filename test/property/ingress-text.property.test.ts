import { expect, test } from "bun:test";
import fc from "fast-check";
import { changes } from "../../src/ingress/core/changes.ts";
import { socketText } from "../../src/ingress/core/commands.ts";
import { formatWord, luaString, mapKey, mapValue, socketWord, UnsafeText, word } from "../../src/ingress/core/quote.ts";
import { proxySetup } from "../support/haproxy.ts";
import { hostileTable, hostileText } from "../support/hostile-tables.ts";
import { table } from "../support/ingress-table.ts";

const setup = proxySetup("/run/x", { spareBackends: 2 });

/** Words of a configuration line as HAProxy cuts it; undefined when a quote stays open or a comment begins. */
function wordsOf(line: string): string[] | undefined {
  const words: string[] = [];
  const pattern = /\s*((?:'[^']*'|\\.|[^\s'"\\#])+)/y;
  while (pattern.lastIndex < line.trimEnd().length) {
    const match = pattern.exec(line);
    if (match === null) return undefined;
    words.push(
      (match[1] ?? "").replace(
        /'([^']*)'|\\(.)/g,
        (_, quoted: string | undefined, escaped: string) => quoted ?? escaped,
      ),
    );
  }
  return words;
}

/** Every first word, and what may follow it, that the product writes itself. */
const known =
  /^(?:acl (?:allowed|denied|trusted|sends_proxy_header)|backend [pdt]\d+|backend redirects|balance|bind|clitcpka-(?:idle|intvl|cnt)|compression|default_backend|defaults (?:base|site|tcp)|filter (?:compression|lua\.body-limit)|frontend (?:web|web_tls|in_t\d+)|global|hard-stop-after|hash-type|http-after-response set-header|http-error status|http-request [a-z0-9.-]+|http-response (?:set-header|del-header|add-header)|http-reuse|log|log-format|lua-load|maxconn|maxpipes|mode|mworker-max-reloads|nbthread|option|retries|retry-on|server s\d+|ssl-default-bind-[a-z]+|tcp-request (?:session (?:reject|set-var-fmt)|inspect-delay|content (?:reject|set-var|lua\.hold))|stats (?:socket|timeout)|stick-table|timeout|tune\.[a-z0-9.-]+|unique-id-(?:format|header)|use-server|use_backend (?:%\[var\(txn\.route\),field\(1,\|\)\]|t\d+)|user |userlist users_d\d+)/;

function written(write: (text: string, what: string) => string, text: string): string | undefined {
  try {
    return write(text, "x");
  } catch (error) {
    if (error instanceof UnsafeText) return undefined;
    throw error;
  }
}

test("a word is read back as it was, and is one word", () =>
  fc.assert(
    fc.property(hostileText, (text) => {
      const quoted = written(word, text);
      if (quoted !== undefined) expect(wordsOf(`a ${quoted} b`) ?? []).toEqual(["a", text, "b"]);
      const format = written(formatWord, text);
      if (format !== undefined && text !== "")
        expect(wordsOf(`a ${format} b`)?.[1]?.replaceAll("%%", "")).not.toContain("%");
    }),
  ));

test("entries of maps, words of the socket and texts of Lua stay in their place", () =>
  fc.assert(
    fc.property(hostileText, (text) => {
      expect(written(mapKey, text) ?? "a").toMatch(/^[^\s#]\S*$/);
      expect(written(mapValue, text) ?? "a").toMatch(/^\S(?:[ \S]*\S)?$/);
      expect((written(socketWord, text) ?? "").replace(/\\./g, "")).not.toMatch(/[\s;\\<]/);
      expect(written(luaString, text) ?? '""').toMatch(/^"(?:[^"\\\n]|\\.)*"$/);
    }),
  ));

test("every line of a configuration is one that berth wrote, whatever a manifest holds", () =>
  fc.assert(
    fc.property(hostileTable, (hostile) => {
      const { files } = changes(undefined, hostile, setup);
      const config = files.find(({ path }) => path === "/run/x/haproxy.cfg")?.content ?? "";
      for (const line of config.split("\n").slice(1)) {
        if (line === "") continue;
        const words = wordsOf(line);
        if (words === undefined || !known.test(words.join(" "))) throw new Error(`not ours: ${JSON.stringify(line)}`);
        expect(words.length).toBeLessThanOrEqual(64);
      }
    }),
  ));

test("files are where they belong, and each entry of a map is one line", () =>
  fc.assert(
    fc.property(hostileTable, (hostile) => {
      for (const { path, content } of changes(undefined, hostile, setup).files) {
        expect(path).toMatch(/^\/run\/x\/(?:haproxy\.cfg|hold\.lua|crt\.list|(?:maps|certs|pages)\/[A-Za-z0-9._-]+)$/);
        expect(path).not.toContain("/../");
        if (path.endsWith(".map") && content !== "")
          for (const line of content.trimEnd().split("\n"))
            expect(line).toMatch(/^[!-"$-~][!-~]* [!-~](?:[ -~]*[!-~])?$/);
      }
    }),
  ));

test("a command of the socket is one line, or one line and a payload that ends where it should", () =>
  fc.assert(
    fc.property(hostileTable, hostileTable, (before, after) => {
      const running = { table: table([], { http: ":80" }), assignment: changes(undefined, before, setup).assignment };
      const first = { table: before, assignment: running.assignment };
      for (const command of changes(first, after, setup).commands) {
        const text = socketText(command);
        const payload = text.includes(" <<\n");
        expect(payload ? text.indexOf("\n\n") : text.indexOf("\n")).toBe(text.length - (payload ? 2 : 1));
        expect(text.split("\n")[0]?.replace(/\\./g, "")).not.toContain(";");
      }
    }),
  ));

test("the next change from where a change leads to is none", () =>
  fc.assert(
    fc.property(hostileTable, (hostile) => {
      const { assignment } = changes(undefined, hostile, setup);
      const again = changes({ table: hostile, assignment }, hostile, setup);
      expect([again.reload, again.commands, again.files, again.assignment]).toEqual([false, [], [], assignment]);
    }),
  ));
