package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
)

func main() {
	name := os.Getenv("NAME")
	body := &bytes.Buffer{}
	contentType := "application/" + os.Getenv("KIND")
	switch os.Getenv("KIND") {
	case "json":
		json.NewEncoder(body).Encode(map[string]string{"status": "PAID", "name": name})
	case "latin1":
		contentType = "application/json; charset=ISO-8859-1"
		for _, letter := range `{"status":"PAID","name":"` + name + `"}` {
			body.WriteByte(byte(letter))
		}
	case "form":
		contentType = "application/x-www-form-urlencoded"
		body.WriteString(url.Values{"status": {"PAID"}, "name": {name}}.Encode())
	case "multipart":
		form := multipart.NewWriter(body)
		form.WriteField("status", "PAID")
		form.WriteField("name", name)
		form.Close()
		contentType = form.FormDataContentType()
	case "nested":
		contentType = "application/x-www-form-urlencoded"
		body.WriteString(url.Values{
			"status":        {"PAID"},
			"payer[name]":   {name},
			"payer[tags][]": {"a", "b"},
		}.Encode())
	case "files":
		form := multipart.NewWriter(body)
		form.WriteField("note \"a\"", "x")
		slip, _ := form.CreateFormFile("slip", "João \"1\".txt")
		slip.Write([]byte("hello"))
		form.Close()
		contentType = form.FormDataContentType()
	case "xml":
		body.WriteString(os.Getenv("XML"))
	}
	certificates := x509.NewCertPool()
	file, _ := os.ReadFile(os.Getenv("CA"))
	certificates.AppendCertsFromPEM(file)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: certificates},
		ForceAttemptHTTP2: true,
	}}
	answer, err := client.Post(os.Getenv("URL"), contentType, body)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(answer.StatusCode)
}
