// Where a method puts its payment: a header of its own, or one authentication scheme in a header that others use too.

/** A whole header, or an authentication scheme in a header that may have another scheme, such as Authorization. */
export type PaymentHeader = string | SchemeHeader;

/** An authentication scheme in a header. */
export interface SchemeHeader {
  /** The header's name. */
  readonly name: string;
  /** The scheme's name, such as `Bearer`. */
  readonly scheme: string;
}

export const nameOf = (header: PaymentHeader): string => (typeof header === "string" ? header : header.name);

const isNamed = (header: PaymentHeader, name: string): boolean => nameOf(header).toLowerCase() === name.toLowerCase();

/** Whether these request headers have this payment. Several schemes in one header are separated by commas. */
export function carries(headers: Headers, header: PaymentHeader): boolean {
  const value = headers.get(nameOf(header));
  if (value === null || typeof header === "string") return value !== null;
  return value.split(",").some((part) => hasScheme(part.trim(), header.scheme));
}

const hasScheme = (value: string, scheme: string): boolean =>
  value.slice(0, scheme.length + 1).toLowerCase() === `${scheme.toLowerCase()} `;

/** Whether a value may be sent in the header `name` by a method that pays with `headers`. */
export const isPaymentOf = (headers: readonly PaymentHeader[], name: string, value: string): boolean =>
  headers.some((header) => isNamed(header, name) && (typeof header === "string" || hasScheme(value, header.scheme)));

/** Whether a method that pays with `headers` uses the header `name`. */
export const hasHeader = (headers: readonly PaymentHeader[], name: string): boolean =>
  headers.some((header) => isNamed(header, name));
