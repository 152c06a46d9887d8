/** What express-openapi-validator puts on a request. */
export interface OpenApiMetadata {
  expressRoute: string;
  openApiRoute: string;
  pathParams: Record<string, string>;
  schema: object;
  serial: number;
}

declare global {
  namespace Express {
    interface Request {
      /** Also sent as X-Request-Id. */
      id: string;
      openapi?: OpenApiMetadata;
    }
  }
}
