# The image of the service. tests/integration/image.long.test.ts runs these stages without Docker.
FROM node:24-trixie-slim AS build
WORKDIR /app
ENV NEXT_TELEMETRY_DISABLED=1 BUILD_WITHOUT_TYPES=1
COPY package.json package-lock.json ./
COPY patches patches
RUN npm ci --include=dev
COPY . .
RUN npm run build
RUN npm run -s licences > THIRD_PARTY.txt
RUN rm -rf .next/cache && find .next -name '*.map' -delete

FROM node:24-trixie-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
COPY patches patches
# Next's compiler is an optional package, which only the build needs. Source maps are a third of the packages' size.
RUN npm ci --omit=dev --omit=optional && find node_modules -name '*.map' -delete

FROM node:24-trixie-slim
# pg_dump and pg_restore, for back-ups of PostgreSQL up to version 17.
RUN apt-get update && apt-get install -y --no-install-recommends postgresql-client && rm -rf /var/lib/apt/lists/*
RUN install -d -o node -g node -m 700 /data
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/.next .next
COPY --from=build /app/dist dist
COPY --from=build /app/THIRD_PARTY.txt /app/LICENSE /app/CHANGELOG.md /app/package.json ./
COPY --from=build /app/db/migrations db/migrations
COPY --from=build /app/db/functions db/functions
COPY --from=build /app/lib/cli/start.mjs /app/lib/cli/launch.mjs lib/cli/
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data npm_config_cache=/tmp/npm npm_config_update_notifier=false
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s \
  --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/api/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "lib/cli/start.mjs", "--migrate"]
