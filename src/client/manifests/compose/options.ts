import { keptReference } from "../kept.ts";
import type { Lose } from "./lose.ts";
import { isScalar, pairsOf, sizeText, textsOf } from "./text.ts";
import { wholeVariable } from "./variables.ts";

interface Options {
  options: string[];
  lose: Lose;
}

type Reader = (value: unknown, path: string, service: Options) => void;

const one =
  (flag: string): Reader =>
  (value, path, { options, lose }) => {
    if (!isScalar(value)) lose(path, "is not text: left out");
    // An unset variable is the same as no key.
    else if (value !== "" && wholeVariable(String(value))?.fallback !== "") options.push(`${flag}=${value}`);
  };
const many =
  (flag: string): Reader =>
  (value, path, { options, lose }) => {
    options.push(...textsOf(value, path, lose).map((text) => `${flag}=${text}`));
  };
const on =
  (flag: string): Reader =>
  (value, path, { options, lose }) => {
    const choice = choiceOf(value);
    if (choice === undefined) lose(path, "is neither true nor false: left out");
    else if (choice !== "false") options.push(choice === "true" ? flag : `${flag}=${choice}`);
  };
const bytes =
  (flag: string): Reader =>
  (value, path, { options, lose }) => {
    const size = sizeText(value);
    // These flags have the units of docker: m is 1,048,576 bytes.
    if (size === undefined) lose(path, "is not a size: left out");
    else options.push(`${flag}=${size.replace(/([KMGT])i$/, (_, unit: string) => unit.toLowerCase())}`);
  };

/** True, false, or a variable that holds one of them. */
function choiceOf(value: unknown): string | undefined {
  const text = isScalar(value) ? String(value) : "";
  const variable = wholeVariable(text);
  if (variable?.fallback === "") return keptReference(`${variable.name}:-false`);
  const known = variable === undefined ? text : (variable.fallback ?? "true");
  return known === "true" || known === "false" ? text : undefined;
}

/** Keys of a service that are flags of `docker run` here. */
export const optionReaders: Record<string, Reader> = {
  user: one("--user"),
  working_dir: one("--workdir"),
  hostname: one("--hostname"),
  cpuset: one("--cpuset-cpus"),
  cpu_shares: one("--cpu-shares"),
  pids_limit: one("--pids-limit"),
  oom_score_adj: one("--oom-score-adj"),
  ipc: one("--ipc"),
  pid: one("--pid"),
  cap_drop: many("--cap-drop"),
  dns: many("--dns"),
  dns_search: many("--dns-search"),
  dns_opt: many("--dns-option"),
  group_add: many("--group-add"),
  security_opt: many("--security-opt"),
  tmpfs: many("--tmpfs"),
  devices: many("--device"),
  init: (value, path, { options, lose }) => {
    // Left out, it would depend on the image here.
    const choice = choiceOf(value);
    if (choice === undefined) lose(path, "is neither true nor false: left out");
    else options.push(choice === "true" ? "--init" : `--init=${choice}`);
  },
  privileged: on("--privileged"),
  read_only: on("--read-only"),
  shm_size: bytes("--shm-size"),
  mem_reservation: bytes("--memory-reservation"),
  memswap_limit: bytes("--memory-swap"),
  sysctls: (value, path, { options, lose }) => {
    options.push(...pairsOf(value, path, lose).map(([key, text]) => `--sysctl=${key}=${text ?? ""}`));
  },
};
