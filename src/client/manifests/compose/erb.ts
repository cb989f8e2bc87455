import { keptReference } from "../kept.ts";
import type { Lose } from "./lose.ts";

const quoted = `["']([^"']*)["']`;
/** `ENV["NAME"] || "default"` */
const indexed = new RegExp(`^ENV\\[${quoted}\\](?:\\s*\\|\\|\\s*${quoted})?$`);
/** `ENV.fetch("NAME", "default")`, or with the default in a block. */
const fetched = new RegExp(
  `^ENV\\.fetch\\(?\\s*${quoted}(?:\\s*,\\s*${quoted})?\\s*\\)?(?:\\s*\\{\\s*${quoted}\\s*\\})?$`,
);

/** A file with Ruby in it, where every value of the environment is a variable (`kept.ts`). Kamal reads its files that way. */
export function withVariables(text: string, lose: Lose): string {
  return text.replaceAll(/<%(=?)-?([\s\S]*?)-?%>/g, (whole, prints: string, written: string) => {
    const ruby = written.trim();
    if (prints === "" || ruby.startsWith("#")) {
      if (ruby !== "" && !ruby.startsWith("#") && !/^require\b/.test(ruby))
        lose(whole, "is Ruby: write what it does into the file");
      return "";
    }
    const [, name, ...defaults] = indexed.exec(ruby) ?? fetched.exec(ruby) ?? [];
    if (name !== undefined && /^[A-Za-z_]\w*$/.test(name)) {
      const fallback = defaults.find((one) => one !== undefined);
      return keptReference(fallback === undefined ? name : `${name}:-${fallback}`);
    }
    lose(whole, "is Ruby: write its value into the file");
    return "";
  });
}
