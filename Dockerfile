# syntax=docker/dockerfile:1
FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
# with the optional packages: the TypeScript compiler is one of them
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY bin bin
COPY src src
# PostgreSQL runs in its own container, so the embedded one (an optional package) is left out
RUN npm run build && npm prune --ignore-scripts --omit=dev --omit=optional --no-audit --no-fund && \
  # types and source maps of the packages are for compilers: a third of their size
  find node_modules -type f \( -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.map' \) -delete

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /app
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/bin/linkledger.js bin/
COPY --from=build /build/dist dist
RUN ln -s /app/bin/linkledger.js /usr/local/bin/linkledger && install -d -o node -g node -m 700 /data
USER node
# holds the click spool and the generated SECRET
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((response) => process.exit(response.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["linkledger"]
CMD ["start"]
