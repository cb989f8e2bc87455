/** Texts that become markup, scripts or another page's look where one is not treated as text. */
export const hostileTexts = [
  `<img src=x onerror="window.pwned=1">`,
  `"><script>window.pwned=1</script>`,
  `'-alert(1)-'`,
  `javascript:window.pwned=1`,
  `</style><svg onload=window.pwned=1>`,
  `\${window.pwned=1}{{constructor.constructor('window.pwned=1')()}}`,
  `<a href="javascript:window.pwned=1">click</a>`,
  `\u001b[2J\u001b]0;pwned\u0007\u202egnp.exe`,
  `<iframe srcdoc="<script>parent.pwned=1</script>">`,
  `${"A".repeat(4_000)}<b>long</b>`,
];

/** Fields that are words, numbers or times: a page may count on their shape. */
const keptKeys =
  /^(?:at|.*_at|until|from|kind|state|severity|type|status|status_text|origin|scope|name|id|seq|level|stream|scopes|not_after)$/;

/** The same data with a hostile text in each field that holds free text. */
export function hostile<T>(value: T, text: string): T {
  if (typeof value === "string") return text as T;
  if (Array.isArray(value)) return value.map((one) => hostile(one, text)) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => [
    key,
    keptKeys.test(key) && typeof one === "string" ? one : hostile(one, text),
  ]);
  return Object.fromEntries(entries) as T;
}
