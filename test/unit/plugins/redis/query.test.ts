import { expect, test } from "bun:test";
import { commandFlags } from "../../../../plugins/redis/commands/query.ts";

test.each([
  ["get\n2\nreadonly\nfast\n1\n1\n1\n@read\n@string", ["readonly", "fast"]],
  ["set\r\n-3\r\nwrite\r\ndenyoom\r\n1\r\n1\r\n1", ["write", "denyoom"]],
  ["memory|usage\n-3\nreadonly\n2\n2\n1", ["readonly"]],
  ["dbsize\n1\nreadonly\nfast", ["readonly", "fast"]],
  ["", []],
  ["ERR unknown command", []],
  ["(nil)\nreadonly\nreadonly", []],
])("the flags of %j", (text, flags) => expect(commandFlags(text)).toEqual(flags));
