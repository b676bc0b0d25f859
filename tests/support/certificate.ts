// This is the private key of `CERTIFICATE`. It is used in tests only.
export const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg/QblXK1oBQDvOYTy
u09wdaNV3Xqn1lILOcxnC6eNve6hRANCAATj/zReJrFsoaQHY2944/qmUdf0prgJ
HiXUc5VNnwjJ+R6cah9ViMA0lY0zwuQ6+r1oNhSWtYrchcu4itb/miDF
-----END PRIVATE KEY-----`;

/** The self-signed certificate for app.example and the clients whose metadata documents the tests publish. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBnjCCAUSgAwIBAgIUdf8lNbZnr0VGk+5yX+WZGC0US3IwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLYXBwLmV4YW1wbGUwIBcNMjYxMTI0MTYzMzIxWhgPMjEyNjEw
MzExNjMzMjFaMBYxFDASBgNVBAMMC2FwcC5leGFtcGxlMFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAE4/80XiaxbKGkB2NveOP6plHX9Ka4CR4l1HOVTZ8IyfkenGof
VYjANJWNM8LkOvq9aDYUlrWK3IXLuIrW/5ogxaNuMGwwDwYDVR0TAQH/BAUwAwEB
/zA6BgNVHREEMzAxggthcHAuZXhhbXBsZYIJY2xhdWRlLmFpggtjaGF0Z3B0LmNv
bYIKdnNjb2RlLmRldjAdBgNVHQ4EFgQUAJCs0SyuNomIEHOYAe1MaBH4qr0wCgYI
KoZIzj0EAwIDSAAwRQIhANgVlAtyJ9ULB2qdNqIq7mpnXB9DZO1bX9pYP8OEZbvL
AiBcCplLYrodP8xzzXWbRnmE7Gdzhfr7NHnzwEKk+XHcrA==
-----END CERTIFICATE-----`;
