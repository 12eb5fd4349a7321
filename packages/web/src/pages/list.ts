// The pages of the app, in the order of the navigation. Each one is a separate chunk.
import { type ComponentType, lazy } from "react";

export interface PageEntry {
  /** The first part of its routes: "/wallet" also matches "/wallet/pay". */
  readonly path: `/${string}`;
  readonly title: string;
  readonly Page: ComponentType;
}

export const PAGES: readonly PageEntry[] = [
  { path: "/wallet", title: "Wallet", Page: lazy(() => import("./wallet/wallet-page.tsx")) },
  { path: "/observer", title: "Observer", Page: lazy(() => import("./observer/observer-page.tsx")) },
  { path: "/merchant", title: "Merchant", Page: lazy(() => import("./merchant/merchant-page.tsx")) },
  { path: "/pool", title: "Pool", Page: lazy(() => import("./pool/pool-page.tsx")) },
  { path: "/service", title: "Service", Page: lazy(() => import("./service/service-page.tsx")) },
];
