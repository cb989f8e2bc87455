import { answer, type CommandBody } from "../shell/command.ts";
import { usageFailure } from "../basics/failures.ts";
import { formatFlag, formatOfFlag } from "../shell/manifest-flags.ts";

export const convertCommand: CommandBody = {
  usage: ["convert PATH… --to hcl|yaml"],
  examples: [
    "convert app.yaml --to hcl > app.hcl  YAML or JSON to HCL",
    "convert deploy/ --to yaml > all.yaml  a folder to one file",
    "convert - --format hcl --to yaml  standard input",
  ],
  detail: [
    "Prints the manifests in another language. Variables, references, embedded files and comments stay.",
    "Anchors of YAML are written out, and calculations of HCL are replaced by their results. The result",
    "is read again and compared with the files: what the other language cannot say is a fault with its",
    "place, and then nothing is printed.",
  ],
  flags: [{ name: "to", value: "LANGUAGE", summary: "hcl or yaml" }, formatFlag],
  async run(context, args) {
    const to = args.value("to");
    if (args.words.length === 0) throw usageFailure("say which manifests: convert FILE --to hcl|yaml");
    if (to !== "hcl" && to !== "yaml") {
      throw usageFailure(
        to === undefined ? "say the language: --to hcl or --to yaml" : `--to is hcl or yaml, not "${to}"`,
      );
    }
    const { manifestFiles } = await import("../manifests/files.ts");
    const { convertFiles } = await import("../manifests/convert/convert.ts");
    const { cwd, stdin, limits } = context;
    const files = await manifestFiles(args.words, { cwd, stdin, limits, format: formatOfFlag(args) });
    const text = convertFiles(files, to, limits);
    return answer(context, { text }, () => text.replace(/\n$/, ""));
  },
};
