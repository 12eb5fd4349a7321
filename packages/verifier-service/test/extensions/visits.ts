// A made-up extension: it counts visits of a page in a table and in a metric.
import type { ServiceExtension } from "@sotto/server";
import type { Kysely } from "kysely";
import { Counter } from "prom-client";
import { Type } from "typebox";

interface Tables {
  visits: { page: string; count: number };
}

const initial = {
  up: (db: Kysely<unknown>) =>
    db.schema
      .createTable("visits")
      .addColumn("page", "text", (column) => column.primaryKey())
      .addColumn("count", "bigint", (column) => column.notNull())
      .execute(),
};

export const visits: ServiceExtension = {
  name: "visits",
  tables: { names: ["visits"], migrations: { "visits-0001": initial } },
  tag: { name: "visits", description: "counts visits" },
  open({ database, metrics }) {
    const { transaction } = database<Tables>();
    const visited = new Counter({ name: "sotto_visits_total", help: "visits", registers: [metrics] });
    const visit = (page: string) =>
      transaction([`visit:${page}`], async (db) => {
        const row = db.insertInto("visits").values({ page, count: 1 });
        return row
          .onConflict((conflict) =>
            conflict.column("page").doUpdateSet((eb) => ({ count: eb("visits.count", "+", 1) })),
          )
          .returning("count")
          .executeTakeFirstOrThrow();
      });
    return {
      routes(app) {
        const params = Type.Object({ page: Type.String({ maxLength: 20 }) });
        const response = { 200: Type.Object({ count: Type.Integer() }) };
        app.post("/visits/:page", { schema: { tags: ["visits"], params, response } }, async (request) => {
          visited.inc();
          return visit(request.params.page);
        });
      },
    };
  },
};
