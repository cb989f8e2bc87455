import { plainValue, resolveReference, type Variables } from "../interpolate.ts";
import type { Fault } from "../source.ts";
import type { Expression, Part } from "./syntax.ts";

export interface EvaluateSetup {
  variables: Variables | "kept";
  faults: Fault[];
}

export type Scalar = string | number | boolean | null;

/** What one scalar is; undefined after a fault, which is in `faults`. */
export function evaluate(expression: Expression, setup: EvaluateSetup): Scalar | undefined {
  switch (expression.type) {
    case "constant":
    case "number":
      return expression.value;
    case "text":
      return textOf(expression.parts, expression.bare, setup);
    case "unary":
      return unary(expression, setup);
    case "binary":
      return binary(expression, setup);
    case "condition": {
      const chosen = branchOf(expression, setup);
      return chosen === undefined ? undefined : evaluate(chosen, setup);
    }
    case "list":
    case "object":
      return fail(setup, expression, `a ${expression.type} cannot stand here`);
    case "call":
      return fail(setup, expression, unknownCall(expression.name));
  }
}

function unknownCall(name: string): string {
  return name === "file" || name === "url"
    ? `${name}() has a meaning only in an asset: KEY = ${name}("…")`
    : `there is no function "${name}": known are file() and url(), in assets`;
}

/** The branch that a condition takes; undefined after a fault. */
export function branchOf(
  { test, yes, no }: Expression & { type: "condition" },
  setup: EvaluateSetup,
): Expression | undefined {
  const value = evaluate(test, setup);
  if (value === undefined) return undefined;
  const truth = booleanOf(value);
  return truth === undefined ? fail(setup, test, "the condition is neither true nor false") : truth ? yes : no;
}

function textOf(parts: readonly Part[], bare: boolean, setup: EvaluateSetup): Scalar | undefined {
  const [only] = parts;
  // A text that is one expression has its type, as in "${1 + 1}".
  if (parts.length === 1 && only?.type === "expression") return evaluate(only.value, setup);
  const texts = parts.map((part) => partText(part, setup));
  if (texts.includes(undefined)) return undefined;
  const text = texts.join("");
  return bare ? plainValue(text) : text;
}

function partText(part: Part, setup: EvaluateSetup): string | undefined {
  if (part.type === "characters") return part.text;
  if (part.type === "reference") {
    const { text, problem } = resolveReference(part.inner, setup.variables);
    if (problem !== undefined) setup.faults.push({ span: part.span, message: problem });
    return problem === undefined ? (text ?? `\${${part.inner}}`) : undefined;
  }
  const value = evaluate(part.value, setup);
  if (value === null) return fail(setup, part.value, "null cannot be part of a text");
  return value === undefined ? undefined : String(value);
}

function unary({ operator, of }: Expression & { type: "unary" }, setup: EvaluateSetup): Scalar | undefined {
  const value = evaluate(of, setup);
  if (value === undefined) return undefined;
  if (operator === "!") {
    const truth = booleanOf(value);
    return truth === undefined ? fail(setup, of, `"!" needs true or false`) : !truth;
  }
  const number = numberOf(value);
  return number === undefined ? fail(setup, of, `"-" needs a number`) : -number;
}

type Binary = Expression & { type: "binary" };

function binary(expression: Binary, setup: EvaluateSetup): Scalar | undefined {
  const left = evaluate(expression.left, setup);
  const right = evaluate(expression.right, setup);
  if (left === undefined || right === undefined) return undefined;
  const { operator } = expression;
  if (operator === "==") return left === right;
  if (operator === "!=") return left !== right;
  if (operator === "&&" || operator === "||") {
    const [a, b] = [booleanOf(left), booleanOf(right)];
    if (a === undefined || b === undefined)
      return fail(setup, expression, `"${operator}" needs true or false on both sides`);
    return operator === "&&" ? a && b : a || b;
  }
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a === undefined || b === undefined) return fail(setup, expression, `"${operator}" needs numbers on both sides`);
  if (operator === "/" && b === 0) return fail(setup, expression.right, "division by zero");
  if (operator === "%" && b === 0) return fail(setup, expression.right, "division by zero");
  return arithmetic[operator]?.(a, b);
}

const arithmetic: Record<string, (a: number, b: number) => number | boolean> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
};

/** As the language converts: a text that is a number is one where a number is wanted. */
export function numberOf(value: Scalar): number | undefined {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value) ? Number(value) : undefined;
}

export function booleanOf(value: Scalar): boolean | undefined {
  if (typeof value === "boolean") return value;
  return value === "true" ? true : value === "false" ? false : undefined;
}

function fail({ faults }: EvaluateSetup, { span }: Expression, message: string): undefined {
  faults.push({ span, message });
  return undefined;
}
