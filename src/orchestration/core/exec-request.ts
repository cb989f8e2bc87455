import { isFields } from "../../base/pure/fields.ts";
import { type Problem, problemsFailure } from "../../base/wire/failure.ts";

/** The body of an exec request, checked. Fails `invalid` with every fault. */
export function readExecBody(body: unknown): { command: string[]; env: string[] } {
  const { command, env } = isFields(body) ? body : {};
  const problems = isFields(body) ? [...commandProblems(command), ...envProblems(env)] : [notAnObject];
  if (problems.length > 0) throw problemsFailure(problems);
  return { command: textsOf(command), env: textsOf(env) };
}

const notAnObject: Problem = { path: "", message: 'the body must be an object such as {"command": ["sh"]}' };

function commandProblems(command: unknown): Problem[] {
  if (!isTexts(command) || command.length === 0) {
    return [{ path: "command", message: 'must be a list of words with at least the program, such as ["ls", "-l"]' }];
  }
  if (command[0] === "") return [{ path: "command[0]", message: "is empty; name the program" }];
  return command.flatMap((word, index) => nulProblems(word, `command[${index}]`));
}

function envProblems(env: unknown): Problem[] {
  if (env === undefined || env === null) return [];
  if (!isTexts(env)) return [{ path: "env", message: 'must be a list such as ["KEY=value"]' }];
  return env.flatMap((entry, index) => {
    const path = `env[${index}]`;
    // It may be a secret without its key, so that it is not shown.
    if (!/^[^=]+=/.test(entry)) return [{ path, message: "is not KEY=value" }];
    return nulProblems(entry, path);
  });
}

function nulProblems(text: string, path: string): Problem[] {
  return text.includes("\0") ? [{ path, message: "holds a NUL character, which no process can be given" }] : [];
}

/** The body of a run in a container of its own, checked as that of an exec. Fails `invalid` with every fault. */
export function readRunAppBody(body: unknown): { command: string[]; env: string[]; entrypoint?: string } {
  const read = readExecBody(body);
  const { entrypoint } = isFields(body) ? body : {};
  if (entrypoint === undefined || entrypoint === null) return read;
  if (typeof entrypoint !== "string") throw problemsFailure([{ path: "entrypoint", message: "must be a text" }]);
  const problems = nulProblems(entrypoint, "entrypoint");
  if (problems.length > 0) throw problemsFailure(problems);
  return { ...read, entrypoint };
}

function textsOf(value: unknown): string[] {
  return isTexts(value) ? value : [];
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
