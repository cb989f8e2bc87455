import { CommandFailure } from "../../basics/failures.ts";
import { noComments } from "../convert/comments.ts";
import { type Target, writeManifests } from "../convert/convert.ts";
import { writeHcl } from "../convert/hcl.ts";
import { writeYaml } from "../convert/yaml.ts";

interface Written {
  text: string;
  manifests: number;
  variables: string[];
}

/** Manifests with marks as a file. Throws a `CommandFailure` where the language cannot say them. */
export function writtenManifests(manifests: readonly Record<string, unknown>[], to: Target, name: string): Written {
  const texts = manifests.map((manifest) => {
    const refuse = (path: string, message: string) => {
      throw new CommandFailure(`${manifest.kind} ${manifest.name}: ${path}: ${message}; import it with --to yaml`);
    };
    const writable = { manifest, comments: noComments, refuse };
    return to === "hcl" ? writeHcl(writable) : writeYaml(writable);
  });
  const open = JSON.stringify(manifests).matchAll(/\uE000([A-Za-z_]\w*)\uE001/g);
  const variables = [...new Set(Array.from(open, ([, variable = ""]) => variable))];
  return { text: writeManifests(texts, [], to, name), manifests: manifests.length, variables };
}
