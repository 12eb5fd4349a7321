// Everything that crosses the wire to service and shops, noted as whoever is at the other end sees it.

export interface SeenRequest {
  readonly method: string;
  /** Behind the base address. */
  readonly path: string;
  /** What was posted. */
  readonly body: unknown;
}

export class Wire {
  /** Every request to the service, oldest first. */
  readonly seen: SeenRequest[] = [];
  /** The newest proof header shown to a shop: what somebody in between would have. */
  proof: string | undefined;
  #told = 0;

  /** For whoever talks to the service. */
  readonly toService: typeof fetch = (input, init) => {
    const { method, url } = new Request(input, init);
    const body: unknown = typeof init?.body === "string" ? JSON.parse(init.body) : undefined;
    this.seen.push({ method, path: decodeURIComponent(new URL(url).pathname), body });
    return fetch(input, init);
  };

  /** For whoever talks to shops. */
  readonly toShops: typeof fetch = (input, init) => {
    const { headers } = new Request(input, init);
    this.proof = headers.get("x-payment-proof") ?? this.proof;
    return fetch(input, init);
  };

  /** What the service has seen since this was asked last. */
  news(): SeenRequest[] {
    const news = this.seen.slice(this.#told);
    this.#told = this.seen.length;
    return news;
  }
}
