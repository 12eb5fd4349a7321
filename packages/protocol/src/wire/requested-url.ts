/** The URL that fetch is called with: a text, a URL or a Request, of any realm. */
export function requestedUrl(input: string | { readonly href: string } | { readonly url: string }): string {
  const { url, href } = Object(input) as Partial<Record<"url" | "href", unknown>>;
  return String(url ?? href ?? input);
}
