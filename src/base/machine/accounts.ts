import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Account, type OperatorGroup, readAccounts, readOperatorGroup } from "../pure/admission.ts";

/** Users and the operators' group of this machine, from its own files; those of directories (LDAP) are not known. */
export async function readOperators(
  etc: string,
  group: string,
): Promise<{ accounts: Account[]; group: OperatorGroup }> {
  const [passwd, groups] = await Promise.all([textOf(join(etc, "passwd")), textOf(join(etc, "group"))]);
  const accounts = readAccounts(passwd);
  return { accounts, group: readOperatorGroup(group, groups, accounts) };
}

/** Whether the machine has a user of this name. */
export async function hasUser(etc: string, name: string): Promise<boolean> {
  const accounts = readAccounts(await textOf(join(etc, "passwd")));
  return accounts.some((account) => account.name === name);
}

/** A machine without the file has no such users. */
function textOf(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
