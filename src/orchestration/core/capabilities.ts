import { didYouMean } from "../../base/pure/suggest.ts";

/** Those of Linux 6.x, without the prefix, and the word for all of them: capabilities(7). */
export const capabilities = [
  ...["ALL", "AUDIT_CONTROL", "AUDIT_READ", "AUDIT_WRITE", "BLOCK_SUSPEND", "BPF", "CHECKPOINT_RESTORE", "CHOWN"],
  ...["DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "IPC_LOCK", "IPC_OWNER", "KILL", "LEASE"],
  ...["LINUX_IMMUTABLE", "MAC_ADMIN", "MAC_OVERRIDE", "MKNOD", "NET_ADMIN", "NET_BIND_SERVICE", "NET_BROADCAST"],
  ...["NET_RAW", "PERFMON", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_ADMIN", "SYS_BOOT", "SYS_CHROOT"],
  ...["SYS_MODULE", "SYS_NICE", "SYS_PACCT", "SYS_PTRACE", "SYS_RAWIO", "SYS_RESOURCE", "SYS_TIME"],
  ...["SYS_TTY_CONFIG", "SYSLOG", "WAKE_ALARM"],
];

/** What is wrong with the name of a capability, in any case and with or without `CAP_`; undefined when nothing is. */
export function capabilityFault(text: string): string | undefined {
  const name = text.toUpperCase().replace(/^CAP_/, "");
  if (capabilities.includes(name)) return undefined;
  return `"${text}" is not a capability of Linux${didYouMean(name, capabilities) || '; write "NET_ADMIN" and the like'}`;
}
