/** The URL that fetch is called with: a text, a URL or a Request, of any realm. */
export function requestedUrl(input: string | { readonly href: string } | { readonly url: string }): string {
  if (typeof input === "string") return input;
  return "url" in input ? input.url : input.href;
}
