const ipv4Pattern = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)$/;

/** Whether a text is an IPv4 or IPv6 address, without brackets, port or zone. */
export function isIpAddress(text: string): boolean {
  return isIpv4(text) || isIpv6(text);
}

export function isIpv4(text: string): boolean {
  return ipv4Pattern.test(text);
}

/** Whether a text is an address or a network: `10.0.0.0/8`, `2001:db8::/32`, `192.0.2.7`. */
export function isNetwork(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  if (more.length > 0 || !isIpAddress(address)) return false;
  if (bits === undefined) return true;
  return /^(?:0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (isIpv4(address) ? 32 : 128);
}

function isIpv6(text: string): boolean {
  return /^[0-9a-fA-F:.]+$/.test(text) && text.includes(":") && URL.canParse(`http://[${text}]/`);
}
