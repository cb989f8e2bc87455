import { describe, expect, test } from "bun:test";
import { placesAfter } from "../../../../src/client/completion/usage.ts";

/** Words as they are, names as what they are. */
const after = (form: string, ...given: string[]) =>
  placesAfter(form, given).flatMap(({ words, live }) => (live === undefined ? words : [`<${live}>`]));

describe("what may stand", () => {
  test.each<[string, string[], string[]]>([
    ["set REF KEY=VALUE… [--no-restart]", [], ["set"]],
    ["set REF KEY=VALUE… [--no-restart]", ["set"], ["<scopes and apps>"]],
    ["set REF KEY=VALUE… [--no-restart]", ["get"], []],
    ["[KIND] [SCOPE[/NAME]]", [], ["<kinds>", "<scopes and apps>"]],
    ["[KIND] [SCOPE[/NAME]]", ["deployment"], ["<scopes and apps>"]],
    ["SCOPE/NAME[.REPLICA] [-it] [-u USER] [-w DIR] [-e K=V]… -- COMMAND…", [], ["<apps>"]],
    ["SCOPE/NAME[.REPLICA] [-it] [-u USER] [-w DIR] [-e K=V]… -- COMMAND…", ["a/b"], []],
    ["-f PATH… [--prune]", [], []],
    ["bash|zsh|fish", [], ["bash", "zsh", "fish"]],
    ["PATH SCOPE/NAME[.REPLICA]:/PATH", ["x"], ["<apps>"]],
    ["SCOPE/NAME=N… [--kind KIND]", ["a/b=1"], ["<apps>"]],
    ["[list]", [], ["list"]],
    ["list", ["list"], []],
    ["session list [--instance ID | --global] --client-id X", ["session"], ["list"]],
  ])("after %j and %j: %j", (form, given, places) => {
    expect(after(form, ...given)).toEqual(places);
  });
});
