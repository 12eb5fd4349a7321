/** Whether a text may name a field that an extension adds to a request or to a payment: 1 to 32 letters, the first in lower case. */
export const isFieldName = (name: unknown): name is string =>
  typeof name === "string" && /^[a-z][A-Za-z]{0,31}$/.test(name);
