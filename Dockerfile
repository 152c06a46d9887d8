# syntax=docker/dockerfile:1

# The API and the jobs in one image: `node dist/main/server.js` is the default, `node dist/main/worker.js` runs
# jobs only. The root file system may be read-only; only /data is written, and /tmp is not used.

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY prisma.config.ts tsconfig.json tsconfig.build.json openapi.yaml ./
COPY prisma prisma
COPY src src
RUN npm run generate:prisma && npm run build

FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production \
    MALLOC_ARENA_MAX=2 \
    MALLOC_TRIM_THRESHOLD_=131072 \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATA_DIR=/data
COPY package.json openapi.yaml ./
COPY assets assets
COPY prisma prisma
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
# The libraries of the packaged PostgreSQL are linked now: the first start could not write there.
RUN node -e "require('./dist/data/postgres/postgres-program').findBinaries()"
# What /data has here, a new volume has too: its owner above all.
RUN install --directory --owner=node --group=node /data /data/storage
USER node
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=6 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node itself is the first process: it handles signals, waits for the processes that it starts, and
# needs no init. The options are those of `npm start`.
CMD ["node", "--max-semi-space-size=8", "--no-parallel-scavenge", "--enable-source-maps", "dist/main/server.js"]
