import { isMap, isScalar, LineCounter, parseDocument, type Scalar, visit } from "yaml";

/** Where the text that was written counts, not what YAML makes of it: `0.10` is not a number, `no` not a boolean. */
const textPath = /^(?:name|version|description|homepage|aliases|kinds|env\.[^.]+|commands\.(?:name|help|timeout))$/;
const aliasesMax = 100;

/** The value of a plugin.yml, or the first fault with its line. Text fields come as they were written. */
export function parsePluginYml(text: string): { value: unknown; fault?: string } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "silent" });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0]);
    const message = error.message.charAt(0).toLowerCase() + error.message.slice(1).replace(/\.$/, "");
    return { value: undefined, fault: `line ${line} column ${col}: ${message}` };
  }
  visit(document, {
    Scalar(key, node, ancestors) {
      if (key !== "key" && textPath.test(pathOf(ancestors))) keepText(node);
    },
  });
  try {
    return { value: document.toJS({ maxAliasCount: aliasesMax }) };
  } catch (cause) {
    return { value: undefined, fault: cause instanceof Error ? cause.message : String(cause) };
  }
}

function keepText(node: Scalar): void {
  const isWritten = node.type === "PLAIN" && node.source !== undefined && node.source !== "" && node.value !== null;
  if (isWritten && typeof node.value !== "string") node.value = node.source;
}

/** Keys on the way to a node; places in lists are left out. */
function pathOf(ancestors: readonly unknown[]): string {
  const keys = ancestors.flatMap((node) => {
    if (typeof node !== "object" || node === null || !("key" in node) || isMap(node)) return [];
    return isScalar(node.key) ? [String(node.key.value)] : [];
  });
  return keys.join(".");
}
