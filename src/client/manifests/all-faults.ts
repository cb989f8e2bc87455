import type { ValidationLimits } from "../../orchestration/core/rules/rule.ts";
import { CommandFailure } from "../basics/failures.ts";
import { checkManifests } from "./check.ts";
import type { ManifestSet } from "./read.ts";
import { FaultyManifests } from "./faulty.ts";
import { serverFaults } from "./server-faults.ts";
import type { Fault } from "./source.ts";

interface Around {
  validation: ValidationLimits;
  limits: { faultsShownMax: number };
}

/**
 * A failure to read manifests, with the faults that the server would find in what was read, so that an operator corrects all
 * of them at once. What is said of a value that could not be read does not count.
 */
export function withCheckFaults(error: unknown, { validation, limits }: Around): unknown {
  if (!(error instanceof FaultyManifests)) return error;
  const { entries, faults, texts } = error;
  const { problems } = checkManifests(
    entries.map(({ manifest }) => manifest),
    validation,
  );
  const further = serverFaults(problems, entries).faults.filter((fault) => faults.every((own) => !isNear(own, fault)));
  if (further.length === 0) return error;
  return new FaultyManifests({ faults: sorted([...faults, ...further]), texts, entries }, limits.faultsShownMax);
}

/** Like `withCheckFaults`, for what went wrong after the manifests were read, such as a folder to build that is not there. */
export function withFaultsOf(error: unknown, set: ManifestSet, { validation }: Around): unknown {
  if (!(error instanceof CommandFailure)) return error;
  const { problems } = checkManifests(set.manifests, validation);
  if (problems.length === 0) return error;
  return new CommandFailure(`${set.explain(problems)}\n\n${error.message}`, error.exitCode, { problems });
}

function isNear({ span: one }: Fault, { span: other }: Fault): boolean {
  return one.source.name === other.source.name && one.start <= other.end && other.start <= one.end;
}

/** From top to bottom of each file. */
function sorted(faults: readonly Fault[]): Fault[] {
  const names = [...new Set(faults.map(({ span }) => span.source.name))];
  const rank = ({ span }: Fault) => names.indexOf(span.source.name);
  return faults.toSorted((a, b) => rank(a) - rank(b) || a.span.start - b.span.start);
}
