import { kindWords, parseKind } from "../../orchestration/core/kind.ts";
import { answer, type CommandBody } from "../shell/command.ts";
import { usageFailure } from "../basics/failures.ts";
import { didYouMean } from "../basics/suggest.ts";

export const schemaCommand: CommandBody = {
  usage: ["schema [KIND]"],
  examples: ["schema > manifest.schema.json  of every kind, for an editor", "schema deployment  of one kind"],
  detail: [
    "Prints a JSON Schema of manifest files in YAML and JSON: editors complete fields with it, show what",
    "they mean and mark faults. With yaml-language-server, write as the first line of a file:",
    "# yaml-language-server: $schema=manifest.schema.json",
    "It needs no server, and knows the fields of plugins' kinds not; berth explain KIND prints those.",
  ],
  flags: [],
  async run(context, args) {
    const [word, ...more] = args.words;
    if (more.length > 0) throw usageFailure("say one kind: schema [KIND]");
    const kind = word === undefined ? undefined : parseKind(word);
    if (word !== undefined && kind === undefined) {
      throw usageFailure(
        `no schema of "${word}"${didYouMean(word, kindWords()) || `: known are ${kindWords().join(", ")}`}`,
      );
    }
    const { editorSchema } = await import("../manifests/editor-schema.ts");
    const schema = editorSchema(kind);
    return answer(context, schema, () => JSON.stringify(schema, null, 2));
  },
};
