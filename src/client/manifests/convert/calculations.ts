import { parseHcl } from "../hcl/parser.ts";
import type { Body, Expression, Part } from "../hcl/syntax.ts";
import type { Fault, Source } from "../source.ts";

/** Calculations with a variable: YAML has none. Those of numbers alone are replaced by their result. */
export function calculations(source: Source, depthMax: number): Fault[] {
  const faults: Fault[] = [];
  const body = parseHcl(source, depthMax, faults);
  // The reader of the manifests reports what is wrong with the syntax.
  if (faults.length > 0) return [];
  visitBody(body, faults);
  return faults;
}

function visitBody({ items }: Body, faults: Fault[]): void {
  for (const item of items) {
    if (item.type === "block") visitBody(item.body, faults);
    else visit(item.value, faults);
  }
}

function visit(expression: Expression, faults: Fault[]): void {
  switch (expression.type) {
    case "list":
      for (const item of expression.items) visit(item, faults);
      return;
    case "object":
      for (const { value } of expression.items) visit(value, faults);
      return;
    case "call":
      for (const argument of expression.arguments) visit(argument, faults);
      return;
    case "text":
      for (const part of expression.parts) if (part.type === "expression") visit(part.value, faults);
      return;
    case "unary":
    case "binary":
    case "condition": {
      const message = "YAML has no calculation with variables: write the result, or a variable for it";
      if (reads(expression)) faults.push({ span: expression.span, message });
    }
  }
}

/** Whether the value depends on a variable or a reference. */
function reads(expression: Expression): boolean {
  switch (expression.type) {
    case "text":
      return expression.parts.some(readsPart);
    case "unary":
      return reads(expression.of);
    case "binary":
      return reads(expression.left) || reads(expression.right);
    case "condition":
      return reads(expression.test) || reads(expression.yes) || reads(expression.no);
    case "list":
      return expression.items.some(reads);
    case "object":
      return expression.items.some(({ key, value }) => reads(key) || reads(value));
    case "call":
      return expression.arguments.some(reads);
    default:
      return false;
  }
}

function readsPart(part: Part): boolean {
  return part.type === "reference" || (part.type === "expression" && reads(part.value));
}
