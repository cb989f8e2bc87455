import type { ConfigMap, Secret } from "kubernetes-types/core/v1";
import { base64Bytes } from "../../../../base/pure/bytes.ts";
import { fieldsOf, textOf } from "../../../../orchestration/core/spec/lenient.ts";
import { MASK } from "../../../../orchestration/core/mask.ts";
import type { Exportable } from "../exportable.ts";
import { metadataOf } from "./names.ts";

/** Files as a config map: text where it is text, base64 where not. */
export function configMapOf(from: Exportable): ConfigMap[] {
  const data: Record<string, string> = {};
  const binaryData: Record<string, string> = {};
  for (const [key, file] of Object.entries(fieldsOf(from.spec.files))) {
    const { _source: source, content } = fieldsOf(file);
    const bytes = source === "file" && typeof content === "string" ? base64Bytes(content) : undefined;
    const text = typeof file === "string" ? file : bytes === undefined ? undefined : textIn(bytes);
    if (text !== undefined) data[key] = text;
    else if (bytes !== undefined) binaryData[key] = String(content);
    else from.lose(`spec.files.${key}`, "is fetched by berth: write its content");
  }
  for (const [key, mode] of Object.entries(fieldsOf(from.spec.modes))) {
    from.lose(`spec.modes.${key}`, `set "mode: ${String(mode)}" for it in the volumes that mount this ConfigMap`);
  }
  if (from.scope === "") from.lose("scope", "this asset is for all scopes, and a ConfigMap is of one namespace");
  return [
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: metadataOf(from),
      ...(Object.keys(data).length === 0 ? {} : { data }),
      ...(Object.keys(binaryData).length === 0 ? {} : { binaryData }),
    },
  ];
}

function textIn(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The login of a registry, where it is not masked. */
export function registrySecretOf(from: Exportable): Secret[] {
  const { url, username, helper } = from.spec;
  const token = textOf(from.spec.token) ?? textOf(from.spec.password);
  if (helper !== undefined || token === undefined || token === MASK) {
    from.lose("spec", "its password is not shown: make the Secret with kubectl create secret docker-registry");
    return [];
  }
  from.lose("spec", "name this Secret in imagePullSecrets, in every namespace that needs it");
  const auth = { username: textOf(username) ?? "", password: token };
  return [
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: metadataOf(from),
      type: "kubernetes.io/dockerconfigjson",
      stringData: { ".dockerconfigjson": JSON.stringify({ auths: { [textOf(url) ?? ""]: auth } }) },
    },
  ];
}
