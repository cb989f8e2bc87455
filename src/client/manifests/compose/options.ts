import type { Lose } from "./lose.ts";
import { isScalar, pairsOf, sizeText, textsOf } from "./text.ts";

interface Options {
  options: string[];
  lose: Lose;
}

type Reader = (value: unknown, path: string, service: Options) => void;

const one =
  (flag: string): Reader =>
  (value, path, { options, lose }) => {
    if (isScalar(value)) options.push(`${flag}=${value}`);
    else lose(path, "is not text: left out");
  };
const many =
  (flag: string): Reader =>
  (value, path, { options, lose }) => {
    options.push(...textsOf(value, path, lose).map((text) => `${flag}=${text}`));
  };
const on =
  (flag: string): Reader =>
  (value, path, { options, lose }) => {
    if (value === true) options.push(flag);
    else if (value !== false) lose(path, "is neither true nor false: left out");
  };
const bytes =
  (flag: string): Reader =>
  (value, path, { options, lose }) => {
    const size = sizeText(value);
    // These flags have the units of docker: m is 1,048,576 bytes.
    if (size === undefined) lose(path, "is not a size: left out");
    else options.push(`${flag}=${size.replace(/([KMGT])i$/, (_, unit: string) => unit.toLowerCase())}`);
  };

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
    if (typeof value === "boolean") options.push(value ? "--init" : "--init=false");
    else lose(path, "is neither true nor false: left out");
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
