import { expect, test } from "bun:test";
import { agentText, tokenCommand } from "../../../../src/ui/text/agents.ts";

test.each([
  ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Linux"],
  ["Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0", "Edge, Windows"],
  ["Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Safari/604", "Safari, iOS"],
  ["Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36", "Chrome, Android"],
  ["curl/8.9", "curl"],
  ["something else entirely, with a text that is far too long", "something else entirely, with a text tha"],
  ["", "unknown"],
])("%j is %j", (agent, text) => expect(agentText(agent)).toBe(text));

test("the command that makes a token has what was chosen, quoted where a shell would read it otherwise", () => {
  const wanted = { name: "night shift's", scopes: ["read", "actions"], apps: "shop, data/*", expires: "90d" };
  expect(tokenCommand(wanted)).toBe(
    "berth pat create 'night shift'\\''s' --scope read,actions --app shop --app 'data/*' --expires 90d",
  );
  expect(tokenCommand({ name: "", scopes: [], apps: "", expires: "" })).toBe("berth pat create NAME");
});
